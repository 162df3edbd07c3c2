(** * Check: translation validation of an emitted gradient program.

    The engine emits [G], straight-line code over the primal values, and for each
    primal id the place ([bar]) where [G] holds its cotangent.  [check] compares
    each cotangent with what the tape rule says it must be, given later ones, up
    to what [Normal] works out.  If it answers [true], [G] computes the real gradient;
    how the engine scheduled, shared or simplified the code does not matter. *)

From Coq Require Import ZArith Lia Arith Bool Lra.
From Coquelicot Require Import Coquelicot.
From Cotan Require Import Tape Scalar Rule Slope Grad Normal.
Import ListNotations.
Open Scope R_scope.

Lemma nth_error_Some_lt {A} (l : list A) m x : nth_error l m = Some x -> (m < length l)%nat.
Proof. intros H. apply nth_error_Some. congruence. Qed.

(** ** Emitted code *)

Fixpoint below (n : nat) (t : tm) : bool :=
  match t with
  | X i => Nat.ltb i n
  | Y | Q _ _ | Undefined | OfWhole _ => true
  | Named _ _ a | Fn _ a | Neg a | PowZ a _ | Gamma a _ => below n a
  | Add a b | Sub a b | Mul a b | Div a b | Pow a b => below n a && below n b
  | If _ a b t e => below n a && below n b && below n t && below n e
  | IfFlag _ t e => below n t && below n e
  end.
Fixpoint scoped (n : nat) (G : list tm) : bool :=
  match G with [] => true | t :: G' => below n t && scoped (S n) G' end.

Section Code.
Variable ud : R.
Notation den := (den ud []).

Fixpoint run_code (c : list R) (G : list tm) : list R :=
  match G with [] => c | t :: G' => run_code (c ++ [den c 0 t]) G' end.

Lemma den_prefix t : forall c c' y, below (length c) t = true -> den (c ++ c') y t = den c y t.
Proof.
  induction t; intros c c' y H; simpl in *; auto;
    repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end;
    try (f_equal; auto; fail).
  apply Nat.ltb_lt in H. now rewrite app_nth1.
Qed.

Lemma run_code_prefix G : forall c, exists tl, run_code c G = c ++ tl.
Proof.
  induction G as [|t G IH]; intros c; simpl.
  - exists []. now rewrite app_nil_r.
  - destruct (IH (c ++ [den c 0 t])) as [tl E]. exists (den c 0 t :: tl).
    rewrite E. now rewrite <- app_assoc.
Qed.

Lemma run_code_nth G : forall c m d, scoped (length c) G = true -> nth_error G m = Some d ->
  nth (length c + m) (run_code c G) 0 = den (run_code c G) 0 d.
Proof.
  induction G as [|t G IH]; intros c m d Hs Hm; [destruct m; discriminate|].
  simpl in Hs. apply andb_prop in Hs as [Ht Hs]. simpl.
  destruct m as [|m]; simpl in Hm.
  - injection Hm as <-. destruct (run_code_prefix G (c ++ [den c 0 t])) as [tl E].
    rewrite E, <- app_assoc, den_prefix by auto. simpl.
    rewrite app_nth2, Nat.add_0_r, Nat.sub_diag by lia. reflexivity.
  - specialize (IH (c ++ [den c 0 t]) m d).
    rewrite app_length in IH; simpl in IH. rewrite Nat.add_1_r in IH.
    replace (length c + S m)%nat with (S (length c) + m)%nat by lia. auto.
Qed.

(** Unfold emitted definitions down to primal values and later cotangents. *)
Section Expand.
Variables (N : nat) (leaf : nat -> bool) (literal : nat -> option tm) (G : list tm).
Fixpoint expand (fuel : nat) : tm -> tm :=
  match fuel with
  | O => fun t => t
  | S f => fix go (t : tm) : tm :=
    match t with
    | X k => match literal k with
             | Some n => expand f n
             | None => if Nat.ltb k N || leaf k then X k
                       else match nth_error G (k - N) with Some d => expand f d | None => X k end
             end
    | Y | Q _ _ | Undefined | OfWhole _ => t
    | Named n d a => Named n d (go a)
    | Fn g a => Fn g (go a) | Neg a => Neg (go a) | PowZ a n => PowZ (go a) n | Gamma a n => Gamma (go a) n
    | Add a b => Add (go a) (go b) | Sub a b => Sub (go a) (go b)
    | Mul a b => Mul (go a) (go b) | Div a b => Div (go a) (go b)
    | Pow a b => Pow (go a) (go b)
    | If r a b t e => If r (go a) (go b) (go t) (go e)
    | IfFlag k t e => IfFlag k (go t) (go e)
    end
  end.

Lemma expand_sound c fuel : length c = N -> scoped N G = true ->
  (forall k n, literal k = Some n -> den (run_code c G) 0 n = nth k (run_code c G) 0) ->
  forall t, den (run_code c G) 0 (expand fuel t) = den (run_code c G) 0 t.
Proof.
  intros Hc Hs Hlit. induction fuel as [|f IHf]; intros t; [reflexivity|].
  induction t; simpl in *; try reflexivity; try congruence.
  destruct (literal i) as [n|] eqn:El; [rewrite IHf; now apply Hlit|].
  destruct (Nat.ltb i N || leaf i) eqn:E; [reflexivity|].
  destruct (nth_error G (i - N)) as [d|] eqn:Ed; [|reflexivity].
  apply orb_false_iff in E as [E _]. apply Nat.ltb_ge in E.
  rewrite IHf, <- (run_code_nth G c (i - N) d) by (rewrite ?Hc; auto).
  f_equal. lia.
Qed.
End Expand.

(** ** What the tape rule says cotangent [i] must be *)

Fixpoint subst (ps : list Z) (args : list nat) (res : nat) (t : tm) : tm :=
  let go := subst ps args res in
  match t with
  | X i => match nth_error args i with Some a => X a | None => Q 0 1 end
  | Y => X res
  | Q _ _ | Undefined => t
  | OfWhole n => OfWhole (Lit (den_whole ps n))
  | Named n d a => Named n d (go a)
  | Fn g a => Fn g (go a) | Neg a => Neg (go a)
  | PowZ a n => PowZ (go a) (Lit (den_whole ps n))
  | Gamma a n => Gamma (go a) (Lit (den_whole ps n))
  | Add a b => Add (go a) (go b) | Sub a b => Sub (go a) (go b)
  | Mul a b => Mul (go a) (go b) | Div a b => Div (go a) (go b)
  | Pow a b => Pow (go a) (go b)
  | If r a b t e => If r (go a) (go b) (go t) (go e)
  | IfFlag k t e => if Z.eqb (nth k ps 0%Z) 0 then go e else go t
  end.

Notation rgather := (gather R 0).

Lemma nth_gather c args i : nth i (rgather c args) 0 = match nth_error args i with Some a => nth a c 0 | None => 0 end.
Proof. revert i; induction args as [|a args IH]; intros [|i]; simpl; auto. Qed.

Lemma subst_sound c ps args res t :
  den c 0 (subst ps args res t) = Rule.den ud ps (rgather c args) (nth res c 0) t.
Proof.
  induction t; simpl; try congruence.
  - rewrite nth_gather. now destruct (nth_error args i).
  - unfold flagged. now destruct (Z.eqb _ _).
Qed.

Fixpoint sends (i res b : nat) (others : list Z) (args : list nat) (as_ : list nat) (ps : list tm) : tm :=
  match as_, ps with
  | a :: as', p :: ps' =>
      let r := sends i res b others args as' ps' in
      if Nat.eqb a i then Add (Mul (X b) (subst others args res p)) r else r
  | _, _ => Q 0 1
  end.
Fixpoint must (i n : nat) (p : rprog) (bar : list nat) : tm :=
  match p with
  | [] => Q 0 1
  | ins :: p' =>
      let r := must i (S n) p' bar in
      if existsb (Nat.eqb i) (ri_args ins)
      then Add r (sends i n (nth n bar O) (ri_others ins) (ri_args ins) (ri_args ins) (r_part (ri_rule ins)))
      else r
  end.

(** Sums, products and functions of operands and numbers. *)
Fixpoint simple (t : tm) : bool :=
  match t with
  | X _ | Q _ _ => true
  | Named _ _ a | Fn _ a | Neg a | PowZ a _ => simple a
  | Add a b | Sub a b | Mul a b | Div a b | Pow a b => simple a && simple b
  | _ => false
  end.

(** A number, or a known function of an operand or its opposite: partials name such functions, and code that has the
    value reads it. *)
Definition known (t : tm) : bool :=
  match t with Q _ _ | Fn _ (X O) | Neg (X O) => true | _ => false end.

(** Of each value of a program, whether it is made of numbers only; [before] says so of the values before. *)
Fixpoint constants (before : list bool) (p : rprog) : list bool :=
  match p with
  | [] => before
  | i :: p' => constants (before ++ [forallb (fun a => nth a before false) (ri_args i)]) p'
  end.

(** What a value of the program is, of its operands, if the term of its rule is of a kind that is seen through. *)
Definition literal (sees : nat -> tm -> bool) (n : nat) (p : rprog) (k : nat) : option tm :=
  if Nat.ltb k n then None
  else match nth_error p (k - n) with
       | Some i =>
           let t := r_prim (ri_rule i) in
           if sees k t && simple t then Some (subst (ri_others i) (ri_args i) k t) else None
       | None => None
       end.

Definition is_lit (t : option tm) : bool := match t with Some (Q _ _) => true | _ => false end.

(** Values of the program that are numbers. *)
Definition numeral (n : nat) (p : rprog) (k : nat) : option tm :=
  let t := literal (fun _ _ => true) n p k in if is_lit t then t else None.

(** Code from line [k] on, in which what is a number is one: code is unfolded as a tree, and a line that is read often
    and turns out to be 0 would be unfolded as often. *)
Fixpoint worked_out (number : nat -> option tm) (k : nat) (G : list tm) : list tm :=
  match G with
  | [] => []
  | t :: G' =>
      let t' := fold (expand k (fun _ => true) number [] 1 t) in
      let also m := if Nat.eqb m k then Some t' else number m in
      t' :: worked_out (if is_lit (Some t') then also else number) (S k) G'
  end.

(** The places of the values that are computed of value [i]. *)
Fixpoint users (i n : nat) (p : rprog) (bar : list nat) : list nat :=
  match p with
  | [] => []
  | ins :: p' =>
      let r := users i (S n) p' bar in
      if existsb (Nat.eqb i) (ri_args ins) then nth n bar O :: r else r
  end.

(** A term written out, and again after what it is made of has been opened once. *)
Fixpoint opened (write open : tm -> tm) (rounds : nat) (t : tm) : tm :=
  match rounds with O => write t | S r => write (open (opened write open r t)) end.

(** Whether the cotangent of value [i] is what the tape rule says.  Later cotangents stay opaque, unless they are
    literals (a folded seed).  Which of them is tried out: all; all but the lines [unfold], which only say what a
    cotangent is; those that go into this one, as others may have the same value by chance; all but those.  Values of
    the program are opaque, too, unless they are [fixed], but code may have read one of them in place of what it is: so
    they are opened, once and twice, if nothing else helps. *)
Definition check_at (n : nat) (p : rprog) (G : list tm) (unfold bar : list nat) (j : nat) (fixed : list bool)
  (i : nat) : bool :=
  let N := (n + length p)%nat in
  let lit k := negb (Nat.ltb k N) && is_lit (nth_error G (k - N)) in
  let places := skipn (S i) bar in
  let used := users i n p bar in
  let among l k := existsb (Nat.eqb k) l && negb (lit k) in
  let but l k := among places k && negb (existsb (Nat.eqb k) l) in
  let open := expand N (fun _ => true) (literal (fun _ _ => true) n p) G 1 in
  let has := X (nth i bar O) in
  let due := Add (Q (if Nat.eqb i j then 1 else 0) 1) (must i n p bar) in
  let shown rounds leaf :=
    let write := expand N leaf (literal (fun k t => known t || nth k fixed false) n p) G (length G + length p) in
    eqtm (opened write open rounds has) (opened write open rounds due) in
  existsb (fun rounds => existsb (shown rounds) [among places; but unfold; among used; but used]) [0; 1; 2]%nat.

Definition check (n : nat) (p : rprog) (G : list tm) (unfold bar : list nat) (j : nat) : bool :=
  let N := (n + length p)%nat in
  let fixed := constants (repeat false n) p in
  scoped N G && Nat.eqb (length bar) N && forallb (check_at n p G unfold bar j fixed) (seq 0 N).

Notation rrecv := (recv R R R 0 Rplus).
Notation rgraph p := (graph_of R 0 Rplus Rmult (prog_of ud p)).

Lemma eval_prefix (g : graph R R R) : forall xs, exists tl, eval R R R xs g = xs ++ tl.
Proof.
  induction g as [|nd g IH]; intros xs; simpl.
  - exists []. now rewrite app_nil_r.
  - destruct (IH (xs ++ [fwd nd xs])) as [tl E]. eexists. rewrite E, <- app_assoc. reflexivity.
Qed.

Lemma gather_prefix xs tl args : Forall (fun a => (a < length xs)%nat) args ->
  rgather (xs ++ tl) args = rgather xs args.
Proof.
  intros H. unfold gather. apply map_ext_in. intros a Ha.
  rewrite Forall_forall in H. now rewrite app_nth1 by auto.
Qed.

Lemma literal_value p : forall xs m i, wf R (length xs) (prog_of ud p) -> nth_error p m = Some i ->
  nth (length xs + m) (rrun ud xs p) 0 = ival ud i (rgather (rrun ud xs p) (ri_args i))
  /\ Forall (fun a => (a < length xs + m)%nat) (ri_args i).
Proof.
  induction p as [|j p IH]; intros xs m i Hwf Hm; [destruct m; discriminate|].
  simpl in Hwf. destruct Hwf as [Ha [_ Hwf]].
  set (v := ival ud j (rgather xs (ri_args j))).
  assert (E : rrun ud xs (j :: p) = rrun ud (xs ++ [v]) p) by reflexivity. rewrite E.
  destruct m as [|m]; simpl in Hm.
  - injection Hm as ->. destruct (eval_prefix (rgraph p) (xs ++ [v])) as [tl T].
    unfold rrun, run. rewrite T, <- app_assoc, Nat.add_0_r, app_nth2, Nat.sub_diag by lia.
    rewrite gather_prefix by exact Ha. split; [reflexivity | exact Ha].
  - assert (L : length (xs ++ [v]) = S (length xs)) by (rewrite app_length; simpl; lia).
    destruct (IH (xs ++ [v]) m i) as [H1 H2]; [now rewrite L | exact Hm|].
    rewrite L in H1, H2. replace (length xs + S m)%nat with (S (length xs) + m)%nat by lia. auto.
Qed.

Lemma simple_den t ps xs y y' : simple t = true -> Rule.den ud ps xs y t = Rule.den ud ps xs y' t.
Proof.
  induction t; simpl; intros H; try discriminate; auto;
    try (apply andb_prop in H as [H1 H2]; rewrite IHt1, IHt2 by assumption; reflexivity); now rewrite IHt.
Qed.

Lemma literal_sound sees p xs G : wf R (length xs) (prog_of ud p) ->
  forall k n, literal sees (length xs) p k = Some n ->
  den (run_code (rrun ud xs p) G) 0 n = nth k (run_code (rrun ud xs p) G) 0.
Proof.
  intros Hwf k n H. unfold literal in H. destruct (Nat.ltb_spec k (length xs)) as [|Hk]; [discriminate|].
  destruct (nth_error p (k - length xs)) as [i|] eqn:E; [|discriminate].
  destruct (run_code_prefix G (rrun ud xs p)) as [tl ->].
  assert (L : length (rrun ud xs p) = (length xs + length p)%nat).
  { unfold rrun, run. rewrite eval_length. unfold graph_of, prog_of. now rewrite !map_length. }
  destruct (literal_value p xs _ i Hwf E) as [V A]. apply nth_error_Some_lt in E.
  destruct (sees k (r_prim (ri_rule i)) && simple (r_prim (ri_rule i))) eqn:S; [|discriminate].
  apply andb_prop in S as [_ S]. injection H as <-.
  rewrite subst_sound, gather_prefix by (eapply Forall_impl; [|exact A]; simpl; lia).
  rewrite (app_nth1 (rrun ud xs p)) by lia. replace k with (length xs + (k - length xs))%nat at 2 by lia.
  rewrite V. unfold ival, val. now apply simple_den.
Qed.

Definition numbers_of (c : list R) (number : nat -> option tm) : Prop :=
  forall m t, number m = Some t -> is_lit (Some t) = true /\ (m < length c)%nat /\ den c 0 t = nth m c 0.

Lemma lit_den t c c' : is_lit (Some t) = true -> den c 0 t = den c' 0 t.
Proof. destruct t; simpl; intros H; try discriminate. reflexivity. Qed.

Lemma worked_out_same G : forall c number, numbers_of c number ->
  run_code c (worked_out number (length c) G) = run_code c G.
Proof.
  induction G as [|t G IH]; intros c number Hn; [reflexivity|].
  cbn [worked_out run_code].
  set (t' := fold _).
  assert (E : den c 0 t' = den c 0 t).
  { unfold t'. rewrite fold_sound. apply (expand_sound (length c) _ number [] c 1 eq_refl eq_refl).
    intros k n H. now apply Hn. }
  clearbody t'. rewrite E. replace (S (length c)) with (length (c ++ [den c 0 t])) by (rewrite app_length; simpl; lia).
  apply IH. intros m u H.
  assert (Old : number m = Some u -> is_lit (Some u) = true /\ (m < length (c ++ [den c 0 t]))%nat
                  /\ den (c ++ [den c 0 t]) 0 u = nth m (c ++ [den c 0 t]) 0).
  { intros Hu. destruct (Hn m u Hu) as [L [B V]]. rewrite app_length; simpl. repeat split; [exact L | lia |].
    rewrite app_nth1 by exact B. rewrite <- V. now apply lit_den. }
  destruct (is_lit (Some t')) eqn:L; [|now apply Old].
  destruct (Nat.eqb_spec m (length c)) as [->|]; [|now apply Old].
  injection H as <-. rewrite app_length; simpl. repeat split; [exact L | lia |].
  rewrite app_nth2, Nat.sub_diag by lia. simpl. rewrite <- E. now apply lit_den.
Qed.

Lemma numeral_sound p xs : wf R (length xs) (prog_of ud p) -> numbers_of (rrun ud xs p) (numeral (length xs) p).
Proof.
  intros Hwf m t H. unfold numeral in H.
  destruct (is_lit (literal _ _ _ m)) eqn:L; [|discriminate].
  pose proof (literal_sound _ p xs [] Hwf m t H) as V. rewrite H in L. repeat split; [exact L | | exact V].
  unfold literal in H. destruct (Nat.ltb_spec m (length xs)) as [|Hm]; [discriminate|].
  destruct (nth_error p (m - length xs)) as [i|] eqn:E; [|discriminate]. apply nth_error_Some_lt in E.
  unfold rrun, run. rewrite eval_length. unfold graph_of, prog_of. rewrite !map_length. lia.
Qed.

Lemma opened_sound c write open :
  (forall t, den c 0 (write t) = den c 0 t) -> (forall t, den c 0 (open t) = den c 0 t) ->
  forall rounds t, den c 0 (opened write open rounds t) = den c 0 t.
Proof. intros W O. induction rounds as [|r IH]; intros t; simpl; rewrite W; [|rewrite O, IH]; reflexivity. Qed.

Lemma nth_bar c bar : forall k, (k < length bar)%nat ->
  nth k (map (fun b => nth b c 0) bar) 0 = nth (nth k bar O) c 0.
Proof. induction bar as [|b bar IH]; intros [|k] H; simpl in *; try lia; auto. apply IH; lia. Qed.

Lemma sends_sound c i res b others args ps as_ :
  den c 0 (sends i res b others args as_ ps)
  = into R 0 Rplus i (combine as_ (map (fun d => nth b c 0 * d)
      (map (Rule.den ud others (rgather c args) (nth res c 0)) ps))).
Proof.
  revert ps; induction as_ as [|a as' IH]; intros [|p ps]; simpl; auto.
  destruct (Nat.eqb a i); simpl; rewrite IH; auto. now rewrite subst_sound.
Qed.

(** An instruction without a value among its operands sends it nothing. *)
Lemma sends_nothing c i res b others args : forall as_ ps,
  existsb (Nat.eqb i) as_ = false -> den c 0 (sends i res b others args as_ ps) = 0.
Proof.
  induction as_ as [|a as' IH]; intros [|p ps] H; simpl in *; try (unfold den_q; simpl; lra).
  apply orb_false_iff in H as [Hi H]. rewrite Nat.eqb_sym, Hi. auto.
Qed.

Lemma must_sound p : forall xs c bar i, wf R (length xs) (prog_of ud p) ->
  (exists tl, c = rrun ud xs p ++ tl) -> length bar = (length xs + length p)%nat ->
  den c 0 (must i (length xs) p bar)
  = rrecv i xs (rgraph p) (map (fun b => nth b c 0) bar).
Proof.
  induction p as [|ins p IH]; intros xs c bar i Hwf [tl Hc] Hb; simpl in *; auto.
  destruct Hwf as [Ha [Hl Hwf]].
  set (v := ival ud ins (rgather xs (ri_args ins))).
  assert (Hlen : length (xs ++ [v]) = S (length xs)) by (rewrite app_length; simpl; lia).
  assert (Hpre : exists tl', c = (xs ++ [v]) ++ tl').
  { destruct (eval_prefix (rgraph p) (xs ++ [v])) as [t2 E].
    exists (t2 ++ tl). rewrite Hc. unfold rrun, run; simpl. fold v. now rewrite E, <- app_assoc. }
  destruct Hpre as [tl' Hpre].
  set (term := sends i (length xs) (nth (length xs) bar O) (ri_others ins) (ri_args ins) (ri_args ins)
                 (r_part (ri_rule ins))).
  transitivity (den c 0 (must i (S (length xs)) p bar) + den c 0 term).
  { destruct (existsb (Nat.eqb i) (ri_args ins)) eqn:E; [reflexivity|].
    unfold term. rewrite sends_nothing by exact E. ring. }
  unfold term. f_equal.
  - rewrite <- Hlen. apply IH.
    + now rewrite Hlen.
    + exists tl. rewrite Hc. unfold rrun, run. reflexivity.
    + rewrite Hlen; lia.
  - rewrite sends_sound. f_equal. f_equal.
    assert (Hn : nth (length xs) c 0 = v).
    { rewrite Hpre, <- app_assoc. simpl. rewrite app_nth2, Nat.sub_diag by lia. reflexivity. }
    assert (Hg : rgather c (ri_args ins) = rgather xs (ri_args ins)).
    { rewrite Hpre, <- app_assoc. now apply gather_prefix. }
    rewrite Hn, Hg. unfold ipart, partials. fold (ival ud ins). fold v.
    rewrite nth_bar by lia. reflexivity.
Qed.

Lemma nth_seed N j i : (j < N)%nat -> nth i (seed_at R 0 1 N j) 0 = if Nat.eqb i j then 1 else 0.
Proof.
  unfold seed_at. revert N i; induction j as [|j IH]; intros [|N] [|i] H; simpl; try lia; auto.
  - rewrite Nat.sub_0_r. clear. revert N. induction i; intros [|N]; simpl; auto.
  - apply IH. lia.
Qed.

Lemma nth_firstn_lt (l : list R) : forall n i, (i < n)%nat -> nth i (firstn n l) 0 = nth i l 0.
Proof. induction l as [|x l IH]; intros [|n] [|i] H; simpl; auto; try lia. apply IH; lia. Qed.

(** If the checker accepts, the emitted program computes the partial derivatives. *)
Theorem check_sound p xs G unfold bar j :
  check (length xs) p G unfold bar j = true ->
  wf R (length xs) (prog_of ud p) -> good ud xs p -> (j < length xs + length p)%nat ->
  let c := run_code (rrun ud xs p) G in
  forall i, (i < length xs)%nat ->
    is_derive (fun z => nth j (rrun ud (put i z xs) p) 0) (nth i xs 0) (nth (nth i bar O) c 0).
Proof.
  intros Hchk Hwf Hg Hj c i Hi.
  cbv beta delta [check] in Hchk. cbv zeta in Hchk. set (N := (length xs + length p)%nat) in *.
  apply andb_prop in Hchk as [Hchk Hall]. apply andb_prop in Hchk as [Hsc Hb].
  apply Nat.eqb_eq in Hb. rewrite forallb_forall in Hall.
  assert (Hlp : length (rgraph p) = length p) by (unfold graph_of, prog_of; now rewrite !map_length).
  assert (HlN : length (rrun ud xs p) = N) by (unfold rrun, run; rewrite eval_length; lia).
  assert (Hok : graph_ok R R R R 0 Rplus (sdot R Rmult) 0 xs (rgraph p)).
  { apply (graph_of_ok R 0 1 Rplus Rmult rsr); auto. eapply sized_of; eauto. }
  set (seed := seed_at R 0 1 N j).
  assert (Hseed : length seed = N) by (apply seed_length; auto).
  set (gv := map (fun b => nth b c 0) bar).
  assert (Hgv : forall k, (k < N)%nat -> nth k gv 0 = nth (nth k bar O) c 0).
  { intros k Hk. unfold gv. apply nth_bar. lia. }
  assert (Hloc : forall k, (k < length seed)%nat ->
            nth k gv 0 = nth k seed 0 + rrecv k xs (rgraph p) gv).
  { intros k Hk. rewrite Hseed in Hk. rewrite Hgv by auto.
    specialize (Hall k). rewrite in_seq in Hall. specialize (Hall ltac:(lia)).
    cbv beta zeta delta [check_at] in Hall. fold N in Hall.
    apply existsb_exists in Hall as [rounds [_ Hall]]. apply existsb_exists in Hall as [leaf [_ Hall]].
    apply (eqtm_sound ud c) in Hall. unfold c in Hall.
    rewrite !opened_sound in Hall by (intros; apply expand_sound; auto; now apply literal_sound).
    fold c in Hall. simpl den in Hall. rewrite Hall. f_equal.
    - unfold seed. rewrite nth_seed by auto. destruct (Nat.eqb k j); reflexivity.
    - apply must_sound; auto. unfold c. apply run_code_prefix. }
  assert (Hsl : length seed = (length xs + length (rgraph p))%nat) by (rewrite Hlp; exact Hseed).
  pose proof (local_unique R R R R 0 Rplus 0 Rplus (sdot R Rmult) 0
    (fun a b e => eq_sym (Rplus_assoc a b e)) Rplus_0_r (rgraph p) xs seed gv Hok Hsl Hloc i) as HU.
  destruct (grad_partial ud p xs i j Hwf Hg Hj Hi) as [g [Hgr Hder]].
  assert (Hp : length (prog_of ud p) = length p) by apply map_length.
  unfold rgrad, grad, reverse in Hgr. rewrite Hp in Hgr. fold N in Hgr. fold seed in Hgr.
  rewrite (backward_dense_correct R R R R 0 Rplus 0 Rplus (sdot R Rmult) 0) in Hgr by assumption.
  simpl in Hgr. injection Hgr as <-.
  rewrite nth_firstn_lt in Hder by auto.
  rewrite <- HU, Hgv in Hder by (rewrite ?Hseed; unfold N; lia). exact Hder.
Qed.

(** Operands are earlier values, as many as the rule has. *)
Fixpoint program_ok (n : nat) (p : rprog) : bool :=
  match p with
  | [] => true
  | i :: p' => forallb (fun a => Nat.ltb a n) (ri_args i) && Nat.eqb (length (ri_args i)) (r_reals (ri_rule i))
               && program_ok (S n) p'
  end.

Lemma program_ok_wf p : forall n, program_ok n p = true -> wf R n (prog_of ud p).
Proof.
  induction p as [|i p IH]; intros n H; simpl in *; auto.
  apply andb_prop in H as [H Hp]. apply andb_prop in H as [Ha Hl]. repeat split; auto.
  - rewrite forallb_forall in Ha. apply Forall_forall. intros a Hin. apply Nat.ltb_lt. auto.
  - now apply Nat.eqb_eq.
Qed.

(** What the oracle runs on a certificate. *)
Definition certified (n : nat) (p : rprog) (G : list tm) (unfold bar : list nat) (j : nat) : bool :=
  program_ok n p && Nat.ltb j (n + length p)
  && check n p (worked_out (numeral n p) (n + length p) G) unfold bar j.

(** An accepted certificate: where every rule is used on its domain, the emitted code computes the partial
    derivatives of the output. *)
Theorem certified_sound p xs G unfold bar j :
  certified (length xs) p G unfold bar j = true -> good ud xs p ->
  let c := run_code (rrun ud xs p) G in
  forall i, (i < length xs)%nat ->
    is_derive (fun z => nth j (rrun ud (put i z xs) p) 0) (nth i xs 0) (nth (nth i bar O) c 0).
Proof.
  intros H Hg. apply andb_prop in H as [H Hc]. apply andb_prop in H as [Hw Hj].
  apply program_ok_wf in Hw. intros c. unfold c.
  rewrite <- (worked_out_same G (rrun ud xs p) (numeral (length xs) p)) by now apply numeral_sound.
  replace (length (rrun ud xs p)) with (length xs + length p)%nat
    by (unfold rrun, run, graph_of, prog_of; now rewrite eval_length, !map_length).
  apply (check_sound p xs _ unfold bar j); auto. now apply Nat.ltb_lt.
Qed.
End Code.
