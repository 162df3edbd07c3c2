(** * Normal: terms as polynomials with rational coefficients over opaque terms.

    Sums, products, whole powers and numbers are worked out.  Reciprocals are taken
    apart at products and signs; a choice is its two arms, each times an indicator, so
    that a factor may stand inside or outside of it.  Everything else is opaque: two such
    terms are the same only if they are written the same way. *)

From Coq Require Import ZArith Bool Lra.
From Coq Require QArith Qreduction Qreals.
From Coquelicot Require Import Coquelicot.
From Cotan Require Import Rule.
Import ListNotations.
Open Scope R_scope.

Definition tm_eq_dec : forall a b : tm, {a = b} + {a <> b}.
Proof.
  decide equality; try apply Nat.eq_dec; try apply Z.eq_dec; try apply Pos.eq_dec; decide equality;
    try apply Nat.eq_dec; try apply Z.eq_dec.
Defined.

Definition coefficient := QArith_base.Q.
Notation "n // d" := (QArith_base.Qmake n d) (at level 40).

Definition mono := list tm.
Definition poly := list (coefficient * mono).

Fixpoint remove1 (a : tm) (m : mono) : option mono :=
  match m with
  | [] => None
  | b :: m' => if tm_eq_dec a b then Some m'
               else match remove1 a m' with Some r => Some (b :: r) | None => None end
  end.
Fixpoint mono_eqb (a b : mono) : bool :=
  match a with
  | [] => match b with [] => true | _ => false end
  | x :: a' => match remove1 x b with Some b' => mono_eqb a' b' | None => false end
  end.

Definition plus (p q : coefficient) : coefficient := Qreduction.Qred (QArith_base.Qplus p q).
Definition times (p q : coefficient) : coefficient := Qreduction.Qred (QArith_base.Qmult p q).

Fixpoint addm (z : coefficient) (m : mono) (p : poly) : poly :=
  match p with
  | [] => [(z, m)]
  | (z', m') :: p' => if mono_eqb m m' then (plus z z', m') :: p' else (z', m') :: addm z m p'
  end.
Fixpoint padd (p q : poly) : poly :=
  match p with [] => q | (z, m) :: p' => addm z m (padd p' q) end.
(** Whether a term is 1 or 0, as two numbers are related. *)
Definition is_indicator (t : tm) : bool :=
  match t with If _ _ _ (Q (Zpos xH) xH) (Q Z0 xH) => true | _ => false end.

(** A product in which no such term comes twice. *)
Fixpoint join (m m' : mono) : mono :=
  match m with
  | [] => m'
  | a :: r => if is_indicator a && match remove1 a m' with Some _ => true | None => false end
              then join r m' else a :: join r m'
  end.
Fixpoint pscale (z : coefficient) (m : mono) (p : poly) : poly :=
  match p with [] => [] | (z', m') :: p' => (times z z', join m m') :: pscale z m p' end.
Fixpoint pmul (p q : poly) : poly :=
  match p with [] => [] | (z, m) :: p' => padd (pscale z m q) (pmul p' q) end.
Fixpoint ppow (p : poly) (k : nat) : poly :=
  match k with O => [(1 // 1, [])] | S k' => pmul p (ppow p k') end.
Definition pneg : poly -> poly := pscale (-1 // 1) [].

(** The reciprocal of a term. *)
Fixpoint recip (t : tm) : poly :=
  match t with
  | Mul a b => pmul (recip a) (recip b)
  | Neg a => pneg (recip a)
  | Q n d =>
      match n with
      | Zpos m => [(Zpos d // m, [])]
      | Zneg m => [(Zneg d // m, [])]
      | Z0 => [(0 // 1, [])]
      end
  | Named _ _ a => recip a
  | _ => [(1 // 1, [Div (Q 1 1) t])]
  end.

Definition indicator (r : rel) (a b : tm) : tm := If r a b (Q 1 1) (Q 0 1).

(** 1 or 0; known where a number is compared with itself. *)
Definition related (r : rel) (a b : tm) : poly :=
  if tm_eq_dec a b then match r with Less => [] | AtMost | Same => [(1 // 1, [])] end
  else [(1 // 1, [indicator r a b])].

(** Sums grow at their left: the terms of the right are put into those of the left. *)
Fixpoint norm (t : tm) : poly :=
  match t with
  | Add a b => padd (norm b) (norm a)
  | Sub a b => padd (norm a) (pneg (norm b))
  | Neg a => pneg (norm a)
  | Mul a b => pmul (norm a) (norm b)
  | Q n d => [(n // d, [])]
  | Named _ _ a => norm a
  | OfWhole (Lit z) => [(z // 1, [])]
  | Div a b => pmul (norm a) (recip b)
  | PowZ a (Lit Z0) => [(1 // 1, [])]
  | PowZ a (Lit (Zpos k)) => ppow (norm a) (Pos.to_nat k)
  | PowZ a (Lit (Zneg k)) => ppow (recip a) (Pos.to_nat k)
  | If r a b t e =>
      let one := related r a b in
      padd (pmul one (norm t)) (pmul (padd [(1 // 1, [])] (pneg one)) (norm e))
  | _ => [(1 // 1, [t])]
  end.

(** Arithmetic on numbers, worked out everywhere in a term: under functions, too. *)
Definition of_q (q : coefficient) : tm := Q (QArith_base.Qnum q) (QArith_base.Qden q).
Definition decided (r : rel) (p q : coefficient) : bool :=
  match r with
  | Less => negb (QArith_base.Qle_bool q p)
  | AtMost => QArith_base.Qle_bool p q
  | Same => QArith_base.Qeq_bool p q
  end.
Definition is_zero (t : tm) : bool := match t with Q Z0 _ => true | _ => false end.
Fixpoint fold (t : tm) : tm :=
  match t with
  | X _ | Y | Q _ _ | Undefined | OfWhole _ => t
  | Named n d a => Named n d (fold a)
  | Fn f a => Fn f (fold a)
  | Neg a => match fold a with Q n d => of_q (QArith_base.Qopp (n // d)) | a' => Neg a' end
  | Add a b =>
      match fold a, fold b with Q n d, Q n' d' => of_q (plus (n // d) (n' // d')) | a', b' => Add a' b' end
  | Sub a b =>
      match fold a, fold b with
      | Q n d, Q n' d' => of_q (plus (n // d) (QArith_base.Qopp (n' // d')))
      | a', b' => Sub a' b'
      end
  | Mul a b =>
      let a' := fold a in
      let b' := fold b in
      if is_zero a' || is_zero b' then Q 0 1
      else match a', b' with Q n d, Q n' d' => of_q (times (n // d) (n' // d')) | _, _ => Mul a' b' end
  | Div a b =>
      match fold a, fold b with
      | Q n d, Q (Zpos m) d' => of_q (times (n // d) (Zpos d' // m))
      | Q n d, Q (Zneg m) d' => of_q (times (n // d) (Zneg d' // m))
      | a', b' => Div a' b'
      end
  | PowZ a k => PowZ (fold a) k
  | Pow a b => Pow (fold a) (fold b)
  | Gamma a k => Gamma (fold a) k
  | If r a b t e =>
      match fold a, fold b with
      | Q n d, Q n' d' => if decided r (n // d) (n' // d') then fold t else fold e
      | a', b' => If r a' b' (fold t) (fold e)
      end
  | IfFlag k t e => IfFlag k (fold t) (fold e)
  end.

Definition eqtm (a b : tm) : bool :=
  forallb (fun zm => Z.eqb (QArith_base.Qnum (fst zm)) 0) (norm (fold (Sub a b))).

Section Sound.
Variables (ud : R) (c : list R).
Notation den := (den ud []).
Notation q2r := Rdefinitions.Q2R.

Fixpoint dm (m : mono) : R := match m with [] => 1 | a :: m' => den c 0 a * dm m' end.
Fixpoint dp (p : poly) : R := match p with [] => 0 | (z, m) :: p' => q2r z * dm m + dp p' end.

Lemma plus_r p q : q2r (plus p q) = q2r p + q2r q.
Proof. unfold plus. rewrite <- Qreals.Q2R_plus. apply Qreals.Qeq_eqR, Qreduction.Qred_correct. Qed.
Lemma times_r p q : q2r (times p q) = q2r p * q2r q.
Proof. unfold times. rewrite <- Qreals.Q2R_mult. apply Qreals.Qeq_eqR, Qreduction.Qred_correct. Qed.
Lemma one_r : q2r (1 // 1) = 1.
Proof. unfold Rdefinitions.Q2R. simpl. lra. Qed.
Lemma minus_one_r : q2r (-1 // 1) = -1.
Proof. unfold Rdefinitions.Q2R. simpl. lra. Qed.

Lemma remove1_dm a m m' : remove1 a m = Some m' -> dm m = den c 0 a * dm m'.
Proof.
  revert m'; induction m as [|b m IH]; intros m' H; simpl in H; [discriminate|].
  destruct (tm_eq_dec a b) as [->|]; [injection H as <-; reflexivity|].
  destruct (remove1 a m) as [r|]; [|discriminate]. injection H as <-.
  simpl. rewrite (IH r eq_refl). ring.
Qed.

Lemma mono_eqb_dm a b : mono_eqb a b = true -> dm a = dm b.
Proof.
  revert b; induction a as [|x a IH]; intros b H; simpl in H.
  - destruct b; [reflexivity|discriminate].
  - destruct (remove1 x b) as [b'|] eqn:E; [|discriminate].
    rewrite (remove1_dm _ _ _ E). simpl. now rewrite (IH b').
Qed.

Lemma indicator_dm a : is_indicator a = true -> den c 0 a * den c 0 a = den c 0 a.
Proof.
  destruct a as [| | | | | | | | | | | | | | |r x y t e|]; try discriminate. simpl.
  destruct t as [| |n d| | | | | | | | | | | | | |]; try discriminate.
  destruct n as [|[]|]; try discriminate. destruct d; try discriminate.
  destruct e as [| |n d| | | | | | | | | | | | | |]; try discriminate.
  destruct n; try discriminate. destruct d; try discriminate. intros _. simpl.
  destruct r; simpl; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; ring.
Qed.

Lemma join_dm m m' : dm (join m m') = dm m * dm m'.
Proof.
  induction m as [|a m IH]; simpl; [ring|].
  destruct (is_indicator a && match remove1 a m' with Some _ => true | None => false end) eqn:E.
  - apply andb_prop in E as [Hi Hr]. destruct (remove1 a m') as [r|] eqn:Er; [|discriminate].
    rewrite IH, (remove1_dm _ _ _ Er). rewrite <- (indicator_dm a Hi) at 1. ring.
  - simpl. rewrite IH. ring.
Qed.

Lemma addm_dp z m p : dp (addm z m p) = q2r z * dm m + dp p.
Proof.
  induction p as [|[z' m'] p IH]; simpl; [reflexivity|].
  destruct (mono_eqb m m') eqn:E; simpl.
  - rewrite (mono_eqb_dm _ _ E), plus_r. ring.
  - rewrite IH. ring.
Qed.
Lemma padd_dp p q : dp (padd p q) = dp p + dp q.
Proof. induction p as [|[z m] p IH]; simpl; [ring|]. rewrite addm_dp, IH. ring. Qed.
Lemma pscale_dp z m p : dp (pscale z m p) = q2r z * dm m * dp p.
Proof.
  induction p as [|[z' m'] p IH]; simpl; [ring|]. rewrite IH, join_dm, times_r. ring.
Qed.
Lemma pmul_dp p q : dp (pmul p q) = dp p * dp q.
Proof. induction p as [|[z m] p IH]; simpl; [ring|]. rewrite padd_dp, pscale_dp, IH. ring. Qed.
Lemma ppow_dp p k : dp (ppow p k) = dp p ^ k.
Proof.
  induction k as [|k IH]; simpl; [rewrite one_r; ring|]. rewrite pmul_dp, IH. ring.
Qed.
Lemma pneg_dp p : dp (pneg p) = - dp p.
Proof. unfold pneg. rewrite pscale_dp, minus_one_r. simpl. ring. Qed.
Lemma opaque_dp t : dp [(1 // 1, [t])] = den c 0 t.
Proof. simpl. rewrite one_r. ring. Qed.

Lemma den_q_r n d : den_q n d = q2r (n // d).
Proof.
  unfold den_q, Rdefinitions.Q2R. simpl. destruct d; try reflexivity. field.
Qed.

Lemma recip_q m d : / q2r (Zpos m // d) = q2r (Zpos d // m).
Proof. unfold Rdefinitions.Q2R. simpl. field. split; apply not_0_IZR; discriminate. Qed.
Lemma recip_q_neg m d : / q2r (Zneg m // d) = q2r (Zneg d // m).
Proof.
  unfold Rdefinitions.Q2R. simpl. change (Z.neg m) with (- Z.pos m)%Z. change (Z.neg d) with (- Z.pos d)%Z.
  rewrite !opp_IZR. field. split; apply not_0_IZR; discriminate.
Qed.

Lemma recip_sound t : dp (recip t) = / den c 0 t.
Proof.
  assert (O : forall t, dp [(1 // 1, [Div (Q 1 1) t])] = / den c 0 t).
  { intros u. rewrite opaque_dp. simpl. unfold Rdiv. ring. }
  induction t; try apply O; cbn [recip].
  - simpl. rewrite den_q_r. destruct n as [|m|m]; simpl; rewrite ?recip_q, ?recip_q_neg; [|ring|ring].
    unfold Rdefinitions.Q2R. simpl. rewrite !Rmult_0_l, Rinv_0. ring.
  - exact IHt.
  - rewrite pneg_dp, IHt. simpl. now rewrite Rinv_opp.
  - rewrite pmul_dp, IHt1, IHt2. simpl. now rewrite Rinv_mult.
Qed.

Lemma related_dp r a b : dp (related r a b) = den c 0 (indicator r a b).
Proof.
  unfold related. destruct (tm_eq_dec a b) as [<-|]; [|apply opaque_dp].
  destruct r; simpl; rewrite ?one_r; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; lra.
Qed.

Lemma norm_sound t : dp (norm t) = den c 0 t.
Proof.
  induction t; try apply opaque_dp; cbn [norm].
  - simpl. rewrite den_q_r. ring.
  - exact IHt.
  - destruct n; try apply opaque_dp. cbn [norm]. simpl. unfold Rdefinitions.Q2R. simpl. field.
  - rewrite pneg_dp, IHt. reflexivity.
  - rewrite padd_dp, IHt1, IHt2. simpl. ring.
  - rewrite padd_dp, pneg_dp, IHt1, IHt2. reflexivity.
  - rewrite pmul_dp. simpl. congruence.
  - rewrite pmul_dp, IHt1, recip_sound. reflexivity.
  - destruct n; try apply opaque_dp. destruct z; cbn [norm].
    + simpl. rewrite one_r. ring.
    + rewrite ppow_dp, IHt. reflexivity.
    + rewrite ppow_dp, recip_sound. simpl. apply pow_inv.
  - rewrite padd_dp, !pmul_dp, padd_dp, pneg_dp, IHt3, IHt4, related_dp. simpl. rewrite one_r.
    destruct r; simpl; [destruct Rlt_dec | destruct Rle_dec | destruct Req_EM_T]; ring.
Qed.

Lemma of_q_r q : den c 0 (of_q q) = q2r q.
Proof. unfold of_q. simpl. rewrite den_q_r. now destruct q. Qed.

Lemma is_zero_r t : is_zero t = true -> den c 0 t = 0.
Proof.
  destruct t as [| |n d| | | | | | | | | | | | | |]; try discriminate. destruct n; try discriminate. intros _.
  simpl. rewrite den_q_r. unfold Rdefinitions.Q2R. simpl. ring.
Qed.

Lemma decided_r {A} r p q (t e : A) : choose r (q2r p) (q2r q) t e = if decided r p q then t else e.
Proof.
  destruct r; unfold choose, decided.
  - destruct (QArith_base.Qle_bool q p) eqn:E; simpl.
    + apply QArith_base.Qle_bool_iff, Qreals.Qle_Rle in E. destruct Rlt_dec; [lra | reflexivity].
    + destruct Rlt_dec as [|H]; [reflexivity|]. apply Rnot_lt_le, Qreals.Rle_Qle in H.
      apply QArith_base.Qle_bool_iff in H. congruence.
  - destruct (QArith_base.Qle_bool p q) eqn:E.
    + apply QArith_base.Qle_bool_iff, Qreals.Qle_Rle in E. destruct Rle_dec; [reflexivity | lra].
    + destruct Rle_dec as [H|]; [|reflexivity]. apply Qreals.Rle_Qle in H.
      apply QArith_base.Qle_bool_iff in H. congruence.
  - destruct (QArith_base.Qeq_bool p q) eqn:E.
    + apply QArith_base.Qeq_bool_iff, Qreals.Qeq_eqR in E. destruct Req_EM_T; [reflexivity | lra].
    + destruct Req_EM_T as [H|]; [|reflexivity]. apply Qreals.eqR_Qeq in H.
      apply QArith_base.Qeq_bool_iff in H. congruence.
Qed.

(** Two numbers, or something else that is left as it is. *)
Ltac both a b :=
  let Ea := fresh in let Eb := fresh in
  destruct (fold a) eqn:Ea; try (simpl in *; congruence); destruct (fold b) eqn:Eb; try (simpl in *; congruence).

Lemma fold_sound t : den c 0 (fold t) = den c 0 t.
Proof.
  induction t; cbn [fold]; try reflexivity; try (simpl; congruence).
  - destruct (fold t) eqn:E; try (simpl in *; congruence).
    rewrite of_q_r, Qreals.Q2R_opp. simpl in *. rewrite <- IHt, den_q_r. reflexivity.
  - both t1 t2. rewrite of_q_r, plus_r. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r. reflexivity.
  - both t1 t2. rewrite of_q_r, plus_r, Qreals.Q2R_opp. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r. reflexivity.
  - destruct (is_zero (fold t1) || is_zero (fold t2)) eqn:Z.
    + rewrite (is_zero_r (Q 0 1)) by reflexivity. simpl. rewrite <- IHt1, <- IHt2.
      apply orb_prop in Z as [Z|Z]; rewrite (is_zero_r _ Z); ring.
    + clear Z. both t1 t2. rewrite of_q_r, times_r. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r. reflexivity.
  - both t1 t2. match goal with |- context [match ?m with _ => _ end] => destruct m as [|m|m] end.
    + simpl in *. congruence.
    + rewrite of_q_r, times_r, <- recip_q. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r. reflexivity.
    + rewrite of_q_r, times_r, <- recip_q_neg. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r. reflexivity.
  - both t1 t2. simpl in *. rewrite <- IHt1, <- IHt2, !den_q_r, decided_r.
    destruct decided; assumption.
Qed.

Lemma zero_dp p : forallb (fun zm => Z.eqb (QArith_base.Qnum (fst zm)) 0) p = true -> dp p = 0.
Proof.
  induction p as [|[[z d] m] p IH]; simpl; intros H; auto.
  apply andb_prop in H as [Hz H]. apply Z.eqb_eq in Hz. subst. rewrite IH by auto.
  unfold Rdefinitions.Q2R. simpl. ring.
Qed.

(** Terms that the normaliser finds equal are equal numbers. *)
Theorem eqtm_sound a b : eqtm a b = true -> den c 0 a = den c 0 b.
Proof.
  intros H. apply zero_dp in H. rewrite norm_sound, fold_sound in H. simpl in H. lra.
Qed.
End Sound.
