(** * Exec: the same rules, run on any numbers, and exactly on residues.

    [denA] gives terms a meaning over any carrier.  Over the real numbers it is [den],
    which the rules are proved for.  Over the integers modulo a prime it is what the
    extracted model runs: every operation is exact and of constant size, and the
    adjoint identity holds there too, as it asks only for a commutative semiring. *)

From Coq Require Import ZArith Lia Arith Eqdep_dec Bool.
From Cotan Require Import Tape Scalar Rule Grad.
Import ListNotations.

Record alg (K : Type) := Alg {
  a_q : Z -> positive -> K; a_named : Z -> positive -> K -> K; a_undefined : K; a_whole : Z -> K;
  a_fn : fn -> K -> K; a_neg : K -> K; a_add : K -> K -> K; a_sub : K -> K -> K;
  a_mul : K -> K -> K; a_div : K -> K -> K; a_powz : K -> Z -> K; a_pow : K -> K -> K;
  a_gamma : K -> Z -> K; a_rel : rel -> K -> K -> bool }.
Arguments Alg {K}. Arguments a_q {K}. Arguments a_named {K}. Arguments a_undefined {K}.
Arguments a_whole {K}. Arguments a_fn {K}. Arguments a_neg {K}. Arguments a_add {K}.
Arguments a_sub {K}. Arguments a_mul {K}. Arguments a_div {K}. Arguments a_powz {K}.
Arguments a_pow {K}. Arguments a_gamma {K}. Arguments a_rel {K}.

Section Any.
Context {K : Type}.
Variables (A : alg K) (d : K).

Fixpoint denA (ps : list Z) (xs : list K) (y : K) (t : tm) : K :=
  match t with
  | X i => nth i xs d
  | Y => y
  | Q n e => a_q A n e
  | Named n e t => a_named A n e (denA ps xs y t)
  | Undefined => a_undefined A
  | OfWhole n => a_whole A (den_whole ps n)
  | Fn f a => a_fn A f (denA ps xs y a)
  | Neg a => a_neg A (denA ps xs y a)
  | Add a b => a_add A (denA ps xs y a) (denA ps xs y b)
  | Sub a b => a_sub A (denA ps xs y a) (denA ps xs y b)
  | Mul a b => a_mul A (denA ps xs y a) (denA ps xs y b)
  | Div a b => a_div A (denA ps xs y a) (denA ps xs y b)
  | PowZ a n => a_powz A (denA ps xs y a) (den_whole ps n)
  | Pow a b => a_pow A (denA ps xs y a) (denA ps xs y b)
  | Gamma a n => a_gamma A (denA ps xs y a) (den_whole ps n)
  | If r a b t e =>
      if a_rel A r (denA ps xs y a) (denA ps xs y b) then denA ps xs y t else denA ps xs y e
  | IfFlag k t e => if Z.eqb (nth k ps 0%Z) 0 then denA ps xs y e else denA ps xs y t
  end.

Definition opA (r : rule) (ps : list Z) : op K :=
  Op (r_reals r)
     (fun xs => denA ps xs d (r_prim r))
     (fun xs => let y := denA ps xs d (r_prim r) in map (denA ps xs y) (r_part r)).

Lemma opA_sized r ps : length (r_part r) = r_reals r -> op_sized K (opA r ps).
Proof. intros H xs _. simpl. now rewrite map_length. Qed.
End Any.

Definition Rrel (r : rel) (a b : R) : bool := choose r a b true false.
Definition Ralg (ud : R) : alg R := {|
  a_q := den_q; a_named := fun _ _ x => x; a_undefined := ud; a_whole := IZR; a_fn := den_fn;
  a_neg := Ropp; a_add := Rplus; a_sub := Rminus; a_mul := Rmult; a_div := Rdiv;
  a_powz := powerRZ; a_pow := Rpower; a_gamma := fun _ _ => ud; a_rel := Rrel |}.

Theorem denA_R ud ps xs y t : denA (Ralg ud) 0%R ps xs y t = den ud ps xs y t.
Proof.
  induction t; simpl; try congruence.
  - rewrite IHt1, IHt2, IHt3, IHt4. unfold Rrel.
    destruct r; simpl; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; reflexivity.
  - unfold flagged. now destruct (Z.eqb _ _).
Qed.

Open Scope nat_scope.

(** ** Z/p, any p > 1 *)
Section Zp.
Variable p : Z.
Hypothesis p_big : (1 < p)%Z.

Record zp := ZP { rep : Z; canon : (rep mod p =? rep)%Z = true }.

Lemma zp_eq a b : rep a = rep b -> a = b.
Proof.
  destruct a as [a Ha], b as [b Hb]; simpl. intros ->. f_equal. apply UIP_dec, bool_dec.
Qed.
Definition mk (z : Z) : zp.
Proof. refine (ZP (z mod p)%Z _). apply Z.eqb_eq. now apply Z.mod_mod; lia. Defined.

Definition zadd a b := mk (rep a + rep b).
Definition zsub a b := mk (rep a - rep b).
Definition zmul a b := mk (rep a * rep b).
Definition zneg a := mk (- rep a).

Lemma zp_ring : semi_ring_theory (mk 0) (mk 1) zadd zmul eq.
Proof.
  assert (C : forall a, (rep a mod p = rep a)%Z) by (intros [a H]; now apply Z.eqb_eq).
  constructor; intros; apply zp_eq; unfold zadd, zmul; cbn [rep mk].
  - rewrite Z.mod_0_l, Z.add_0_l by lia. apply C.
  - f_equal; ring.
  - rewrite Zplus_mod_idemp_r, Zplus_mod_idemp_l. f_equal; ring.
  - rewrite Z.mod_1_l by lia. rewrite Z.mul_1_l. apply C.
  - rewrite Zmult_mod_idemp_l. reflexivity.
  - f_equal; ring.
  - rewrite Zmult_mod_idemp_r, Zmult_mod_idemp_l. f_equal; ring.
  - rewrite Zmult_mod_idemp_l, <- Zplus_mod. f_equal; ring.
Qed.

(** Functions that are no ring operations: fixed ones in their place, since the
    adjoint identity asks nothing of them.  Comparisons are those of representatives. *)
Fixpoint ppow (a : zp) (e : positive) : zp :=
  match e with
  | xH => a
  | xO e' => let b := ppow a e' in zmul b b
  | xI e' => let b := ppow a e' in zmul a (zmul b b)
  end.
Definition zinv (a : zp) : zp := ppow a (Z.to_pos (p - 2)).
Definition zpowz (a : zp) (n : Z) : zp :=
  match n with Z0 => mk 1 | Zpos e => ppow a e | Zneg e => zinv (ppow a e) end.

Definition fn_index (f : fn) : Z :=
  match f with
  | Exp => 1 | Ln => 2 | Sqrt => 3 | Sin => 4 | Cos => 5 | Tan => 6 | Asin => 7 | Acos => 8
  | Atan => 9 | Sinh => 10 | Cosh => 11 | Tanh => 12 | Erf => 13 | Floor => 14
  end.
Definition cubic (n : Z) (a : zp) : zp := zadd (zmul a (zadd (zmul a a) (mk (n + 1)))) (mk n).
Definition zrel (r : rel) (a b : zp) : bool :=
  match r with Less => Z.ltb (rep a) (rep b) | AtMost => Z.leb (rep a) (rep b) | Same => Z.eqb (rep a) (rep b) end.
Definition zq (n : Z) (d : positive) : zp := zmul (mk n) (zinv (mk (Zpos d))).
Definition Zalg : alg zp := {|
  a_q := zq; a_named := fun n d _ => zq n d; a_undefined := mk 2718281828; a_whole := mk;
  a_fn := fun f => cubic (fn_index f); a_neg := zneg; a_add := zadd; a_sub := zsub; a_mul := zmul;
  a_div := fun a b => zmul a (zinv b); a_powz := zpowz; a_pow := fun a b => zadd (zadd (zmul a b) a) (mk 1);
  a_gamma := fun a n => cubic (16 + n) a; a_rel := zrel |}.

(** ** Nodes of a tape *)

(** A constant. *)
Definition zleaf (v : Z) : instr zp := Instr (Op 0 (fun _ => mk v) (fun _ => [])) [].

(** A use of a rule. *)
Definition zuse (r : rule) (args : list nat) (others : list Z) : instr zp :=
  Instr (opA Zalg (mk 0) r others) args.

(** The greatest (least) of several values: all that are equal to it share its
    derivative equally. *)
Definition extreme (greatest : bool) (xs : list zp) : zp :=
  match xs with
  | [] => mk 0
  | x :: xs' => fold_left (fun m a => if zrel Less (if greatest then m else a) (if greatest then a else m) then a else m) xs' x
  end.
Definition shares (m : zp) (xs : list zp) : list zp :=
  let n := length (filter (zrel Same m) xs) in
  map (fun x => if zrel Same m x then zinv (mk (Z.of_nat n)) else mk 0) xs.
Definition zcontest (greatest : bool) (args : list nat) : instr zp :=
  Instr (Op (length args) (extreme greatest) (fun xs => shares (extreme greatest xs) xs)) args.

Inductive node_of_tape : instr zp -> Prop :=
| a_leaf v : node_of_tape (zleaf v)
| a_use r args others : length (r_part r) = r_reals r -> node_of_tape (zuse r args others)
| a_contest greatest args : node_of_tape (zcontest greatest args).

(** Operands are earlier nodes, as many as the operation has. *)
Fixpoint well_formed (n : nat) (prog : list (instr zp)) : bool :=
  match prog with
  | [] => true
  | i :: prog' => forallb (fun a => a <? n) (i_args i) && (length (i_args i) =? op_arity (i_op i))
                  && well_formed (S n) prog'
  end.

(** What the model computes: all values, and all cotangents for one seed. *)
Definition values (xs : list Z) (prog : list (instr zp)) : list Z :=
  map rep (run zp (mk 0) zadd zmul (map mk xs) prog).
Definition cotangents (xs : list Z) (prog : list (instr zp)) (seed : list Z) : option (list Z) :=
  option_map (map rep) (Scalar.reverse zp (mk 0) zadd zmul (map mk xs) prog (map mk seed)).

Lemma well_formed_wf prog : forall n, well_formed n prog = true -> Scalar.wf zp n prog.
Proof.
  induction prog as [|i prog IH]; intros n H; simpl in *; auto.
  apply andb_prop in H as [H Hp]. apply andb_prop in H as [Ha Hl]. repeat split; auto.
  - rewrite forallb_forall in Ha. apply Forall_forall. intros a Hin. apply Nat.ltb_lt. auto.
  - now apply Nat.eqb_eq.
Qed.

Lemma node_sized i : node_of_tape i -> op_sized zp (i_op i).
Proof.
  intros [v | r args others H | greatest args]; simpl.
  - intros xs _. reflexivity.
  - now apply opA_sized.
  - intros xs Hxs. simpl in *. unfold shares. now rewrite map_length.
Qed.

(** On every well-formed tape the model gives cotangents, and they are the adjoint of
    forward mode: exactly, for every seed and every tangent. *)
Theorem model_adjoint xs prog seed ts :
  well_formed (length xs) prog = true -> Forall node_of_tape prog ->
  length ts = length xs -> length seed = length xs + length prog ->
  exists gs, Scalar.reverse zp (mk 0) zadd zmul xs prog seed = Some gs /\ length gs = length seed /\
    klin zp (mk 0) zadd zmul (Scalar.forward zp (mk 0) zadd zmul xs ts prog) seed
    = klin zp (mk 0) zadd zmul ts (firstn (length xs) gs).
Proof.
  intros Hwf Hn Ht Hs. apply (reverse_adjoint zp (mk 0) (mk 1) zadd zmul zp_ring); auto.
  - now apply well_formed_wf.
  - eapply Forall_impl; [|exact Hn]. intros i. apply node_sized.
Qed.
End Zp.
