(** * Prove: the tactic that closes the lemma of every rule.

    [rule_intro] leaves algebra at one point: that the primitive is smooth there, and
    that its slope is the linear form of the partials.  Both hold for one reason in
    each case: the domain, facts about the functions in the goal, and field equality.

    Every piece either closes its goal ([solve]) or leaves named goals, so that
    [first] really falls through. *)

From Coq Require Import Lra Lia.
From Coquelicot Require Import Coquelicot.
From Cotan Require Export Rule Slope.
Import ListNotations.
Open Scope R_scope.

(** ** Facts that the tactic adds *)

Lemma square_pos (a : R) : a <> 0 -> 0 < a * a.
Proof. intros H. nra. Qed.

Lemma ln_pos (n : R) : 1 < n -> 0 < ln n.
Proof. intros H. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma Rpower_pos a b : 0 < Rpower a b.
Proof. apply exp_pos. Qed.

Lemma Rpower_pred a b : 0 < a -> Rpower a (b + - (1)) = Rpower a b * / a.
Proof. intros H. rewrite Rpower_plus, Rpower_Ropp, Rpower_1 by exact H. reflexivity. Qed.

Lemma cube_root a : 0 < a -> Rpower a (1 * / 3) * Rpower a (1 * / 3) * Rpower a (1 * / 3) = a.
Proof.
  intros H. rewrite <- !Rpower_plus. replace (1 * / 3 + 1 * / 3 + 1 * / 3) with 1 by lra. now apply Rpower_1.
Qed.

Lemma floor_half a : a = 0 -> floor (a + 1 * / 2) = 0.
Proof. intros ->. exact (floor_whole_half 0). Qed.

(** A whole number is what it rounds to. *)
Lemma round_floor a b : a = floor b -> floor (a + 1 * / 2) = floor b.
Proof. intros ->. apply floor_whole_half. Qed.
Lemma round_minus_floor a b : a = - floor b -> floor (a + 1 * / 2) = - floor b.
Proof. intros ->. unfold floor at 2 3. rewrite <- opp_IZR. apply floor_whole_half. Qed.

Lemma four_atan : 4 * atan 1 = PI.
Proof. rewrite atan_1. lra. Qed.

(** Half the length of a vector. *)
Lemma sqrt_halves a b :
  sqrt (1 * / 2 * a * (1 * / 2 * a) + 1 * / 2 * b * (1 * / 2 * b)) = 1 * / 2 * sqrt (a * a + b * b).
Proof.
  replace (_ + _) with ((1 * / 2) * (1 * / 2) * (a * a + b * b)) by field.
  rewrite sqrt_mult by nra. f_equal. apply sqrt_square. lra.
Qed.

Ltac know T tac :=
  lazymatch goal with _ : T |- _ => fail | _ => let H := fresh "F" in assert (H : T) by tac end.

Ltac facts :=
  repeat match goal with
  | |- context [exp ?a] => know (0 < exp a) ltac:(apply exp_pos)
  | |- context [cosh ?a] => know (0 < cosh a) ltac:(apply cosh_pos)
  | |- context [PI] => know (0 < PI) ltac:(apply PI_RGT_0)
  | |- context [ln (IZR ?n)] => know (0 < ln (IZR n)) ltac:(apply ln_pos; lra)
  | |- context [Rpower ?a ?b] => know (0 < Rpower a b) ltac:(apply Rpower_pos)
  | H : ?a <> 0 |- _ => know (0 < a * a) ltac:(apply square_pos; exact H)
  end.

(** ** Signs *)

Ltac pos0 := first
  [ assumption | lra
  | apply Rmult_lt_0_compat; pos0
  | apply Rinv_0_lt_compat; pos0
  | nra ].

Ltac nz0 := first
  [ assumption
  | apply Rgt_not_eq; lra
  | apply Rlt_not_eq; lra
  | apply Rmult_integral_contrapositive_currified; nz0
  | apply Rinv_neq_0_compat; nz0
  | let E := fresh in intro E;
    match goal with H : _ <> _ |- _ => apply H; first [ lra | field_simplify_eq; lra ] end
  | apply Rgt_not_eq; nra
  | apply Rlt_not_eq; nra ].

(** No whole number: a hypothesis says it of the negative, or of what makes one with it. *)
Ltac not_whole := let n := fresh "n" in let E := fresh "E" in
  intros n E; match goal with H : forall m : Z, ?a <> IZR m |- _ =>
    first [ apply (H n); lra
          | apply (H (- n)%Z); rewrite opp_IZR; lra
          | apply (H (1 - n)%Z); rewrite minus_IZR; lra ] end.
Ltac not_whole_zero :=
  match goal with H : forall m : Z, ?a <> IZR m |- ?x <> ?y =>
    let E := fresh in intro E; apply (H 0%Z); lra end.

Ltac side0 := match goal with
  | |- True => exact I
  | |- _ /\ _ => split; side0
  | |- forall n : Z, _ <> IZR n => not_whole
  | |- _ <> _ => first [ nz0 | not_whole_zero ]
  | |- 0 < _ => pos0
  | |- _ => first [ assumption | lra | nra | rewrite !floor_half by lra; lra ]
  end.

(** ** Roots: each square root gets a name [s], with [0 < s], [0 < / s] and [s * s = a] *)

Ltac root1 a :=
  let s := fresh "s" in let Hs := fresh "Hs" in let Hp := fresh "Hp" in let Ha := fresh "Ha" in
  assert (Ha : 0 < a) by pos0;
  pose proof (sqrt_lt_R0 a Ha) as Hp;
  pose proof (Rinv_0_lt_compat _ Hp);
  pose proof (sqrt_sqrt a (Rlt_le _ _ Ha)) as Hs;
  set (s := sqrt a) in *; clearbody s.
(** Square roots of the same number written in two ways become one. *)
Ltac merge_roots := repeat match goal with
  | |- context [sqrt ?a] => match goal with |- context [sqrt ?b] =>
      assert_fails (constr_eq a b); replace (sqrt b) with (sqrt a) by (f_equal; ring) end
  end.
Ltac cube_roots := repeat match goal with
  | |- context [Rpower ?a (1 * / 3)] =>
      let c := fresh "c" in let Hc := fresh "Hs" in
      assert (Hc : Rpower a (1 * / 3) * Rpower a (1 * / 3) * Rpower a (1 * / 3) = a) by (apply cube_root; pos0);
      set (c := Rpower a (1 * / 3)) in *; clearbody c
  end.
Ltac roots := rewrite ?sqrt_halves; merge_roots; repeat match goal with |- context [sqrt ?a] => root1 a end; cube_roots.

(** ** Choices *)

Ltac cases := unfold choose in *; repeat match goal with
  | H : context [Rlt_dec ?a ?b] |- _ => destruct (Rlt_dec a b)
  | H : context [Rle_dec ?a ?b] |- _ => destruct (Rle_dec a b)
  | H : context [Req_EM_T ?a ?b] |- _ => destruct (Req_EM_T a b)
  | |- context [Rlt_dec ?a ?b] => destruct (Rlt_dec a b)
  | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
  | |- context [Req_EM_T ?a ?b] => destruct (Req_EM_T a b)
  | |- context [flagged ?ps ?k _ _] => unfold flagged; destruct (Z.eqb (nth k ps 0%Z) 0)
  end; try (exfalso; first [ lra | nra ]).

(** ** Smoothness *)

Ltac side := try exact I; unfold Rsqr, Rminus, Rdiv in *; facts; roots; solve [ side0 ].

Ltac smooth_tac := repeat match goal with
  | |- True => exact I
  | |- _ /\ _ => split
  | |- (_ /\ _ /\ ?a <> ?b /\ _) \/ _ =>
      first [ solve [ left; smooth_tac ] | solve [ right; smooth_tac ]
            | solve [ destruct (Req_dec a b); [ right; smooth_tac | left; smooth_tac ] ] ]
  | |- context [choose _ _ _ _ _] => cases
  | |- context [flagged _ _ _ _] => cases
  | _ => side
  end.

(** ** Equality of slopes *)

(** Twice the half of a number, as the slope of the logistic function has it. *)
Ltac halves := repeat match goal with
  | |- context [1 * / 2 * ?a + 1 * / 2 * ?a] => replace (1 * / 2 * a + 1 * / 2 * a) with a by field
  end.

Ltac norm_exp :=
  repeat rewrite ?Rmult_plus_distr_r, ?Rmult_1_l, ?Ropp_mult_distr_l_reverse in *;
  repeat rewrite ?exp_plus, ?exp_Ropp in *;
  repeat rewrite exp_ln in * by side0;
  facts.

(** Field equality modulo the defining equations of the named roots. *)
Ltac eq0 := match goal with
  | H1 : ?s * ?s = _, H2 : ?u * ?u = _ |- _ =>
      assert_fails (constr_eq s u); first [ field [H1 H2] | field [H2 H1] ]; repeat split; side0
  | H1 : ?s * ?s = _ |- _ => field [H1]; repeat split; side0
  | H1 : ?s * ?s * ?s = _ |- _ => field [H1]; repeat split; side0
  | |- _ => field; repeat split; side0
  end.
Ltac eq1 := first [ solve [ ring ] | solve [ eq0 ] ].

Ltac rounded := repeat match goal with
  | |- context [floor (?a + 1 * / 2)] => match goal with |- context [floor ?b] =>
      first [ rewrite (round_floor a b) by (field; side0) | rewrite (round_minus_floor a b) by (field; side0) ] end
  end.

Ltac same :=
  unfold Rsqr, Rminus, Rdiv in *; rewrite ?four_atan in *; halves; facts; roots; cases;
  rounded; rewrite ?Rpower_pred by pos0; facts; roots;
  first [ eq1 | solve [ norm_exp; eq1 ] | solve [ unfold tan in *; eq1 ]
        | solve [ unfold tanh, sinh, cosh, Rminus, Rdiv in *; norm_exp; eq1 ] ].

(** ** The tactic *)

Ltac unlist :=
  repeat match goal with
  | H : length ?l = 0%nat |- _ => destruct l; [clear H | discriminate H]
  | H : length ?l = S _ |- _ => destruct l; [discriminate H | injection H as H]
  | H : Forall _ (_ :: _) |- _ => inversion H; clear H; subst
  | H : Forall _ [] |- _ => clear H
  end.

Ltac open_rule :=
  apply rule_intro; [reflexivity|];
  let ud := fresh "ud" in let ps := fresh "ps" in let xs := fresh "xs" in let dxs := fresh "dxs" in
  intros ud ps xs dxs ? ? Hd; unfold in_dom in Hd; cbn [r_dom r_reals] in *; unlist;
  cbn [val partials lin map nth den den_fn den_q den_whole fn_slope fn_ok slope smooth r_prim r_part holds] in *;
  repeat match goal with H : _ \/ _ |- _ => destruct H end.

(** For a rule that is written out, and for one that has a name. *)
Ltac written_tac := open_rule; (split; [ smooth_tac | same ]).
Ltac rule_tac := match goal with |- rule_ok ?r => unfold r end; written_tac.
