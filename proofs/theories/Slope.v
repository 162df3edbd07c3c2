(** * Slope: derivatives of terms, by the chain rule, once and for all.

    [slope] is the derivative of a term along curves, [smooth] a condition under
    which it is.  A branch that is not taken need not be defined: where the two sides
    of a comparison differ, only the branch taken is asked to be smooth.  Where they
    may be equal, both branches have to meet with the same value and slope. *)

From Coq Require Import Lra Lia.
From Coquelicot Require Import Coquelicot.
From Cotan Require Import Rule.
Import ListNotations.
Open Scope R_scope.

Section Slope.
Variables (ud : R) (ps : list Z).
Notation den := (den ud ps).

Fixpoint slope (xs dxs : list R) (y : R) (t : tm) : R :=
  match t with
  | X i => nth i dxs 0
  | Y | Q _ _ | Undefined | OfWhole _ | Gamma _ _ => 0
  | Named _ _ t => slope xs dxs y t
  | Fn f a => fn_slope f (den xs y a) * slope xs dxs y a
  | Neg a => - slope xs dxs y a
  | Add a b => slope xs dxs y a + slope xs dxs y b
  | Sub a b => slope xs dxs y a - slope xs dxs y b
  | Mul a b => slope xs dxs y a * den xs y b + den xs y a * slope xs dxs y b
  | Div a b => (slope xs dxs y a * den xs y b - den xs y a * slope xs dxs y b) / (den xs y b * den xs y b)
  | PowZ a n => IZR (den_whole ps n) * powerRZ (den xs y a) (den_whole ps n - 1) * slope xs dxs y a
  | Pow a b => Rpower (den xs y a) (den xs y b)
               * (slope xs dxs y b * ln (den xs y a) + den xs y b * (slope xs dxs y a / den xs y a))
  | If r a b t e => choose r (den xs y a) (den xs y b) (slope xs dxs y t) (slope xs dxs y e)
  | IfFlag k t e => flagged ps k (slope xs dxs y t) (slope xs dxs y e)
  end.

Fixpoint smooth (xs dxs : list R) (y : R) (t : tm) : Prop :=
  match t with
  | X _ | Y | Q _ _ | Undefined | OfWhole _ => True
  | Named _ _ a | Neg a => smooth xs dxs y a
  | Fn f a => smooth xs dxs y a /\ fn_ok f (den xs y a)
  | Add a b | Sub a b | Mul a b => smooth xs dxs y a /\ smooth xs dxs y b
  | Div a b => smooth xs dxs y a /\ smooth xs dxs y b /\ den xs y b <> 0
  | PowZ a _ => smooth xs dxs y a /\ den xs y a <> 0
  | Pow a b => smooth xs dxs y a /\ smooth xs dxs y b /\ 0 < den xs y a
  | Gamma _ _ => False
  | If r a b t e =>
      (smooth xs dxs y a /\ smooth xs dxs y b /\ den xs y a <> den xs y b /\
       choose r (den xs y a) (den xs y b) (smooth xs dxs y t) (smooth xs dxs y e))
      \/ (smooth xs dxs y t /\ smooth xs dxs y e /\
          den xs y t = den xs y e /\ slope xs dxs y t = slope xs dxs y e)
  | IfFlag k t e => flagged ps k (smooth xs dxs y t) (smooth xs dxs y e)
  end.

(** ** Comparisons *)

(** What is less now stays less for a while. *)
Lemma less_locally (f g : R -> R) (t df dg : R) :
  is_derive f t df -> is_derive g t dg -> f t < g t -> locally t (fun s => f s < g s).
Proof.
  intros Hf Hg H.
  assert (C : continuous (fun s => g s - f s) t).
  { apply (ex_derive_continuous (fun s => g s - f s)). exists (dg - df).
    apply (is_derive_minus (V := R_NormedModule) g f t dg df Hg Hf). }
  assert (L : locally t (fun s => 0 < g s - f s)) by (apply (C (fun z => 0 < z)), (open_gt 0); lra).
  apply filter_imp with (2 := L). intros s Hs. lra.
Qed.

Lemma choose_locally r (f g : R -> R) (t df dg : R) :
  is_derive f t df -> is_derive g t dg -> f t <> g t ->
  locally t (fun s => forall A (a b : A), choose r (f s) (g s) a b = choose r (f t) (g t) a b).
Proof.
  intros Hf Hg Hne. destruct (Rtotal_order (f t) (g t)) as [H|[H|H]]; [| contradiction |].
  - apply filter_imp with (2 := less_locally f g t df dg Hf Hg H). intros s Hs A a b.
    destruct r; simpl; repeat destruct Rlt_dec; repeat destruct Rle_dec; repeat destruct Req_EM_T; auto; lra.
  - apply filter_imp with (2 := less_locally g f t dg df Hg Hf H). intros s Hs A a b.
    destruct r; simpl; repeat destruct Rlt_dec; repeat destruct Rle_dec; repeat destruct Req_EM_T; auto; lra.
Qed.

Lemma choose_either {A} r a b (t e : A) : choose r a b t e = t \/ choose r a b t e = e.
Proof. destruct r; simpl; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; auto. Qed.

(** A function that is everywhere one of two that meet smoothly is smooth. *)
Lemma derive_either (f g h : R -> R) (t l : R) :
  (forall s, f s = g s \/ f s = h s) -> g t = h t -> is_derive g t l -> is_derive h t l -> is_derive f t l.
Proof.
  intros Hf Hm [Hlin Hg] [_ Hh]. split; [exact Hlin|].
  intros x Hx eps. assert (x = t) as -> by (symmetry; now apply (is_filter_lim_locally_unique t x)).
  assert (E : f t = g t) by (destruct (Hf t); congruence).
  apply filter_imp with (2 := filter_and _ _ (Hg t Hx eps) (Hh t Hx eps)).
  intros s [Gs Hs]. destruct (Hf s) as [->| ->]; rewrite E; [exact Gs | rewrite Hm; exact Hs].
Qed.

(** ** The theorem *)

Lemma curves_nth us t dus i : curves us t dus ->
  is_derive (fun s => nth i (at_ us s) 0) t (nth i dus 0).
Proof.
  intros H. revert i. induction H as [|u du us dus Hu H IH]; intros [|i]; simpl;
    try exact (@is_derive_const R_AbsRing R_NormedModule 0 t); auto.
Qed.

Lemma powerRZ_neg_pred (x : R) (p : positive) : x <> 0 ->
  powerRZ x (- Z.pos p - 1) = / (x ^ Pos.to_nat p * x).
Proof.
  intros H. replace (- Z.pos p - 1)%Z with (Z.neg (Pos.succ p)) by lia.
  simpl powerRZ. rewrite Pos2Nat.inj_succ. simpl. now rewrite Rmult_comm.
Qed.
Lemma powerRZ_slope (x : R) (n : Z) : x <> 0 -> is_derive (fun x => powerRZ x n) x (IZR n * powerRZ x (n - 1)).
Proof.
  intros H. destruct n as [|p|p].
  - simpl. rewrite Rmult_0_l. exact (@is_derive_const R_AbsRing R_NormedModule 1 x).
  - apply (is_derive_ext (fun x => x ^ Pos.to_nat p)); [reflexivity|].
    replace (IZR (Z.pos p) * powerRZ x (Z.pos p - 1)) with (INR (Pos.to_nat p) * 1 * x ^ Init.Nat.pred (Pos.to_nat p)).
    + apply (is_derive_pow (fun x => x) (Pos.to_nat p) x 1). exact (is_derive_id (K := R_AbsRing) x).
    + rewrite INR_IZR_INZ, positive_nat_Z, pow_powerRZ. rewrite Rmult_1_r. do 2 f_equal. lia.
  - apply (is_derive_ext (fun x => / x ^ Pos.to_nat p)); [reflexivity|].
    assert (Hp : x ^ Pos.to_nat p <> 0) by now apply pow_nonzero.
    destruct (Pos2Nat.is_succ p) as [m Hm].
    replace (IZR (Z.neg p) * powerRZ x (Z.neg p - 1))
      with (- (INR (Pos.to_nat p) * 1 * x ^ Init.Nat.pred (Pos.to_nat p)) / (x ^ Pos.to_nat p) ^ 2).
    + apply (is_derive_inv (fun x => x ^ Pos.to_nat p)); [|exact Hp].
      apply (is_derive_pow (fun x => x) (Pos.to_nat p) x 1). exact (is_derive_id (K := R_AbsRing) x).
    + rewrite INR_IZR_INZ, positive_nat_Z. replace (Z.neg p) with (- Z.pos p)%Z by lia. rewrite opp_IZR.
      rewrite powerRZ_neg_pred by exact H. rewrite Hm in *. simpl in *. field.
      split; [exact H | now apply pow_nonzero].
Qed.
Lemma Rpower_slope (f g : R -> R) (t df dg : R) :
  is_derive f t df -> is_derive g t dg -> 0 < f t ->
  is_derive (fun s => Rpower (f s) (g s)) t (Rpower (f t) (g t) * (dg * ln (f t) + g t * (df / f t))).
Proof.
  intros Hf Hg Hp. unfold Rpower.
  assert (Hl : is_derive (fun s => ln (f s)) t (df / f t)).
  { apply (is_derive_comp (V := R_NormedModule) ln f); [apply is_derive_ln; exact Hp | exact Hf]. }
  pose proof (is_derive_mult g (fun s => ln (f s)) t dg (df / f t) Hg Hl Rmult_comm) as Hm.
  pose proof (is_derive_comp (V := R_NormedModule) exp (fun s => g s * ln (f s)) t _ _ (is_derive_exp _) Hm) as He.
  rewrite Rmult_comm. exact He.
Qed.

Theorem slope_correct t : forall us t0 dus y, curves us t0 dus -> smooth (at_ us t0) dus y t ->
  is_derive (fun s => den (at_ us s) y t) t0 (slope (at_ us t0) dus y t).
Proof.
  induction t; intros us t0 dus y Hc Hs; simpl in *;
    try exact (@is_derive_const R_AbsRing R_NormedModule _ t0).
  - now apply curves_nth.
  - auto.
  - destruct Hs as [Ha Hf]. rewrite Rmult_comm.
    apply (is_derive_comp (V := R_NormedModule) (den_fn f) (fun s => den (at_ us s) y t)); [now apply fn_derive | auto].
  - apply (is_derive_opp (V := R_NormedModule) (fun s => den (at_ us s) y t)). auto.
  - destruct Hs. apply (is_derive_plus (V := R_NormedModule)); auto.
  - destruct Hs. apply (is_derive_minus (V := R_NormedModule)); auto.
  - destruct Hs. apply (is_derive_mult (fun s => den (at_ us s) y t1) (fun s => den (at_ us s) y t2)); auto.
    intros; apply Rmult_comm.
  - destruct Hs as [H1 [H2 H3]].
    replace (_ / _) with ((slope (at_ us t0) dus y t1 * den (at_ us t0) y t2 - den (at_ us t0) y t1 * slope (at_ us t0) dus y t2)
      / (den (at_ us t0) y t2) ^ 2) by (simpl; now rewrite Rmult_1_r).
    apply (is_derive_div (fun s => den (at_ us s) y t1) (fun s => den (at_ us s) y t2)); auto.
  - destruct Hs as [H1 H2]. rewrite Rmult_comm.
    apply (is_derive_comp (V := R_NormedModule) (fun x => powerRZ x (den_whole ps n)) (fun s => den (at_ us s) y t)); auto.
    now apply powerRZ_slope.
  - destruct Hs as [H1 [H2 H3]]. specialize (IHt1 us t0 dus y Hc H1). specialize (IHt2 us t0 dus y Hc H2).
    exact (Rpower_slope _ _ t0 _ _ IHt1 IHt2 H3).
  - destruct Hs as [[H1 [H2 [Hne Ht]]]|[Ht [He [Hv Hsl]]]].
    + pose proof (choose_locally r _ _ t0 _ _ (IHt1 us t0 dus y Hc H1) (IHt2 us t0 dus y Hc H2) Hne) as HL.
      apply (is_derive_ext_loc (fun s => choose r (den (at_ us t0) y t1) (den (at_ us t0) y t2) (den (at_ us s) y t3) (den (at_ us s) y t4))).
      * apply filter_imp with (2 := HL). intros s Hs. now rewrite Hs.
      * destruct r; simpl in *; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; auto.
    + apply (derive_either _ (fun s => den (at_ us s) y t3) (fun s => den (at_ us s) y t4)).
      * intros s. apply choose_either.
      * exact Hv.
      * replace (choose _ _ _ _ _) with (slope (at_ us t0) dus y t3); auto.
        destruct (choose_either r (den (at_ us t0) y t1) (den (at_ us t0) y t2) (slope (at_ us t0) dus y t3) (slope (at_ us t0) dus y t4)) as [-> | ->]; auto.
      * replace (choose _ _ _ _ _) with (slope (at_ us t0) dus y t4); auto.
        destruct (choose_either r (den (at_ us t0) y t1) (den (at_ us t0) y t2) (slope (at_ us t0) dus y t3) (slope (at_ us t0) dus y t4)) as [-> | ->]; auto.
  - unfold flagged in *. destruct (Z.eqb _ _); auto.
Qed.
End Slope.

Lemma curves_length us t dus : curves us t dus -> length us = length dus.
Proof. intros H. induction H; simpl; congruence. Qed.

(** What is left of a rule is algebra at one point. *)
Theorem rule_intro r :
  length (r_part r) = r_reals r ->
  (forall ud ps xs dxs, length xs = r_reals r -> length dxs = r_reals r -> in_dom ud ps r xs ->
     smooth ud ps xs dxs 0 (r_prim r) /\
     slope ud ps xs dxs 0 (r_prim r) = lin (partials ud ps r xs) dxs) ->
  rule_ok r.
Proof.
  intros Hl H. split; [exact Hl|]. intros ud ps us t dus Hus Hc Hd.
  assert (Hx : length (at_ us t) = r_reals r) by (unfold at_; now rewrite map_length).
  assert (Hdx : length dus = r_reals r) by (rewrite <- Hus; symmetry; now apply curves_length with t).
  destruct (H ud ps (at_ us t) dus Hx Hdx Hd) as [Hs <-].
  now apply slope_correct.
Qed.
