(** * Grad: from rules to gradients.  A straight-line program of right rules, run on
    the executable tape, gives the derivative of the real function that it computes. *)

From Coq Require Import Lia Arith Lra.
From Coquelicot Require Import Coquelicot.
From Cotan Require Import Tape Scalar Rule Slope.
Import ListNotations.
Open Scope R_scope.

(** A use of a rule: the values that it reads, and its operands that are no real
    numbers. *)
Record rinstr := RI { ri_rule : rule; ri_args : list nat; ri_others : list Z }.
Definition rprog := list rinstr.

Section Grad.
Variable ud : R.                      (* what [Undefined] happens to be *)

Definition ival (i : rinstr) : list R -> R := val ud (ri_others i) (ri_rule i).
Definition ipart (i : rinstr) : list R -> list R := partials ud (ri_others i) (ri_rule i).
Definition op_of (i : rinstr) : op R := Op (r_reals (ri_rule i)) (ival i) (ipart i).
Definition prog_of (p : rprog) : prog R := map (fun i => Instr (op_of i) (ri_args i)) p.

Definition rrun (xs : list R) (p : rprog) : list R := run R 0 Rplus Rmult xs (prog_of p).
Definition rforward (xs ts : list R) (p : rprog) := forward R 0 Rplus Rmult xs ts (prog_of p).
Definition rgrad (xs : list R) (p : rprog) (j : nat) := grad R 0 1 Rplus Rmult xs (prog_of p) j.

Notation rgather := (gather R 0).

(** Every instruction uses a checked rule, inside its domain, at this point. *)
Fixpoint good (xs : list R) (p : rprog) : Prop :=
  match p with
  | [] => True
  | i :: p' =>
      rule_ok (ri_rule i) /\ in_dom ud (ri_others i) (ri_rule i) (rgather xs (ri_args i)) /\
      good (xs ++ [ival i (rgather xs (ri_args i))]) p'
  end.

(** The program as a bundle of curves. *)
Fixpoint trace (us : list (R -> R)) (p : rprog) : list (R -> R) :=
  match p with
  | [] => us
  | i :: p' => trace (us ++ [fun s => ival i (rgather (at_ us s) (ri_args i))]) p'
  end.

Lemma at_trace p : forall us s, at_ (trace us p) s = rrun (at_ us s) p.
Proof.
  induction p as [|i p IH]; intros us s; simpl; auto.
  rewrite IH. unfold rrun, run; simpl. unfold at_. now rewrite map_app.
Qed.

Lemma curves_app us us' t ds ds' : curves us t ds -> curves us' t ds' -> curves (us ++ us') t (ds ++ ds').
Proof. apply Forall2_app. Qed.

Lemma curve_nth us t ds a : curves us t ds -> is_derive (nth a us (fun _ => 0)) t (nth a ds 0).
Proof.
  intros H; revert a; induction H as [|u d us ds Hu H IH]; intros [|a]; simpl; auto;
    exact (@is_derive_const R_AbsRing R_NormedModule 0 t).
Qed.

Lemma at_nth us s a : nth a (at_ us s) 0 = nth a us (fun _ => 0) s.
Proof. unfold at_. change 0 with ((fun u : R -> R => u s) (fun _ => 0)) at 1. now rewrite map_nth. Qed.

Lemma curves_gather us t ds args :
  curves us t ds -> Forall (fun a => (a < length us)%nat) args ->
  curves (map (fun a => nth a us (fun _ => 0)) args) t (rgather ds args).
Proof.
  intros Hc H; induction H as [|a args Ha H IH]; simpl; constructor; auto.
  now apply curve_nth.
Qed.

Lemma at_gather us s args : at_ (map (fun a => nth a us (fun _ => 0)) args) s = rgather (at_ us s) args.
Proof. unfold at_ at 1, gather. rewrite map_map. apply map_ext. intros. now rewrite at_nth. Qed.

Lemma lin_klin a b : klin R 0 Rplus Rmult a b = lin a b.
Proof. revert b; induction a as [|x a IH]; intros [|y b]; simpl; try rewrite IH; reflexivity. Qed.

(** Forward mode computes derivatives along curves. *)
Theorem trace_derive p : forall us t ds,
  wf R (length us) (prog_of p) -> good (at_ us t) p -> curves us t ds ->
  curves (trace us p) t (rforward (at_ us t) ds p).
Proof.
  induction p as [|i p IH]; intros us t ds Hwf Hg Hc; simpl in *; auto.
  destruct Hwf as [Ha [Hl Hwf]]. destruct Hg as [[Hlen Hr] [Hd Hg]].
  set (f := fun s => ival i (rgather (at_ us s) (ri_args i))).
  set (d := lin (ipart i (rgather (at_ us t) (ri_args i))) (rgather ds (ri_args i))).
  assert (Hf : is_derive f t d).
  { pose proof (Hr ud (ri_others i) (map (fun a => nth a us (fun _ => 0)) (ri_args i)) t (rgather ds (ri_args i))) as H.
    rewrite at_gather in H.
    apply (is_derive_ext (fun s => ival i (at_ (map (fun a => nth a us (fun _ => 0)) (ri_args i)) s))).
    - intros s. unfold f. now rewrite at_gather.
    - apply H; [ rewrite map_length; exact Hl | now apply curves_gather | exact Hd ]. }
  unfold rforward, forward; simpl. rewrite lin_klin. fold d.
  replace (at_ us t ++ [ival i (rgather (at_ us t) (ri_args i))]) with (at_ (us ++ [f]) t)
    by (unfold at_; now rewrite map_app).
  apply IH.
  - rewrite app_length; simpl. now rewrite Nat.add_1_r.
  - unfold at_. rewrite map_app. exact Hg.
  - apply curves_app; auto. constructor; auto.
Qed.

Lemma rsr : semi_ring_theory 0 1 Rplus Rmult eq.
Proof. constructor; intros; ring. Qed.

Lemma sized_of p xs : good xs p -> sized R (prog_of p).
Proof.
  revert xs; induction p as [|i p IH]; intros xs H; simpl in *; constructor.
  - destruct H as [[Hl _] _]. intros ys Hy; simpl in *. unfold ipart, partials. now rewrite map_length.
  - destruct H as [_ [_ H]]. eapply IH; eauto.
Qed.

(** Main theorem: the tape's gradient is the derivative of output [j] along every
    differentiable curve through the point. *)
Theorem grad_correct p xs j :
  wf R (length xs) (prog_of p) -> good xs p -> (j < length xs + length p)%nat -> (0 < length xs)%nat ->
  exists g, rgrad xs p j = Some g /\ length g = length xs /\
    forall us t ds, at_ us t = xs -> curves us t ds ->
      is_derive (fun s => nth j (rrun (at_ us s) p) 0) t (lin ds g).
Proof.
  intros Hwf Hg Hj Hn.
  assert (Hlp : length (prog_of p) = length p) by apply map_length.
  destruct (grad_is_partial R 0 1 Rplus Rmult rsr (prog_of p) xs j 0) as [g [H1 [H2 [_ H3]]]]; auto.
  - eapply sized_of; eauto.
  - now rewrite Hlp.
  - exists g. split; [exact H1|]. split; [exact H2|]. intros us t ds Hat Hc.
    assert (Hlu : length us = length xs) by (rewrite <- Hat; symmetry; apply map_length).
    assert (Hld : length ds = length xs) by (rewrite <- Hlu; symmetry; eapply curves_length; eauto).
    rewrite <- lin_klin, <- (H3 ds Hld).
    pose proof (trace_derive p us t ds) as H.
    rewrite Hlu, Hat in H. specialize (H Hwf Hg Hc).
    apply (is_derive_ext (nth j (trace us p) (fun _ => 0))).
    + intros s. rewrite <- at_nth. now rewrite at_trace.
    + now apply curve_nth.
Qed.

(** Its [i]-th entry is the [i]-th partial derivative. *)
Fixpoint put (i : nat) (z : R) (xs : list R) : list R :=
  match xs, i with
  | [], _ => []
  | _ :: xs', O => z :: xs'
  | x :: xs', S i' => x :: put i' z xs'
  end.

Definition axis (xs : list R) (i : nat) : list (R -> R) :=
  map (fun k => if Nat.eqb k i then (fun z => z) else (fun _ => nth k xs 0)) (seq 0 (length xs)).

Lemma at_axis xs i z : at_ (axis xs i) z = put i z xs.
Proof.
  unfold axis, at_. rewrite map_map.
  enough (H : forall b l, (forall k, (k < length l)%nat -> nth (b + k) xs 0 = nth k l 0) ->
    map (fun k => (if Nat.eqb k (b + i) then (fun z => z) else (fun _ => nth k xs 0)) z) (seq b (length l))
    = put i z l).
  { apply (H O xs). auto. }
  intros b l; revert b i; induction l as [|x l IH]; intros b i H; simpl; [destruct i; reflexivity|].
  destruct i as [|i]; simpl.
  - rewrite Nat.add_0_r, Nat.eqb_refl. f_equal.
    assert (H' := fun k Hk => H (S k) Hk). simpl in H'. clear IH.
    rewrite (map_ext_in _ (fun k => nth k xs 0)).
    + clear H. revert b H'; induction l as [|y l IH]; intros b H'; simpl; auto. f_equal.
      * specialize (H' O). rewrite Nat.add_comm in H'. simpl in H'. apply H'; simpl; lia.
      * apply IH. intros k Hk. specialize (H' (S k)). simpl in H'.
        rewrite <- H' by (simpl; lia). f_equal; lia.
    + intros k Hk. apply in_seq in Hk. destruct (Nat.eqb_spec k b); auto; lia.
  - destruct (Nat.eqb_spec b (b + S i)); [lia|]. f_equal.
    + specialize (H O). rewrite Nat.add_0_r in H. apply H; simpl; lia.
    + replace (b + S i)%nat with (S b + i)%nat by lia. apply IH.
      intros k Hk. specialize (H (S k)). simpl in H. rewrite <- H by lia. f_equal; lia.
Qed.

Lemma put_self i xs : put i (nth i xs 0) xs = xs.
Proof. revert i; induction xs as [|x xs IH]; intros [|i]; simpl; f_equal; auto. Qed.

Lemma curves_axis xs i t : (i < length xs)%nat -> curves (axis xs i) t (seed_at R 0 1 (length xs) i).
Proof.
  intros Hi. unfold axis, seed_at.
  enough (H : forall b n m, (m < n)%nat ->
    curves (map (fun k => if Nat.eqb k (b + m) then (fun z => z) else (fun _ => nth k xs 0)) (seq b n)) t
           (repeat 0 m ++ 1 :: repeat 0 (n - m - 1))).
  { now apply (H O). }
  assert (Hz : forall b n m, (m < b)%nat ->
    curves (map (fun k => if Nat.eqb k m then (fun z => z) else (fun _ => nth k xs 0)) (seq b n)) t (repeat 0 n)).
  { intros b n m; revert b; induction n as [|n IH]; intros b Hb; simpl; constructor.
    - destruct (Nat.eqb_spec b m); [lia|]. exact (@is_derive_const R_AbsRing R_NormedModule _ t).
    - apply IH; lia. }
  intros b n; revert b; induction n as [|n IH]; intros b m Hm; [lia|].
  destruct m as [|m]; simpl.
  - rewrite Nat.add_0_r, Nat.eqb_refl, Nat.sub_0_r. constructor.
    + exact (@is_derive_id R_AbsRing t).
    + apply Hz. lia.
  - destruct (Nat.eqb_spec b (b + S m)); [lia|]. constructor.
    + exact (@is_derive_const R_AbsRing R_NormedModule _ t).
    + replace (b + S m)%nat with (S b + m)%nat by lia. apply IH. lia.
Qed.

Corollary grad_partial p xs i j :
  wf R (length xs) (prog_of p) -> good xs p -> (j < length xs + length p)%nat -> (i < length xs)%nat ->
  exists g, rgrad xs p j = Some g /\
    is_derive (fun z => nth j (rrun (put i z xs) p) 0) (nth i xs 0) (nth i g 0).
Proof.
  intros Hwf Hg Hj Hi.
  destruct (grad_correct p xs j Hwf Hg Hj) as [g [H1 [H2 H3]]]; [lia|].
  exists g; split; auto.
  specialize (H3 (axis xs i) (nth i xs 0) (seed_at R 0 1 (length xs) i)).
  rewrite at_axis, put_self in H3. specialize (H3 eq_refl (curves_axis xs i _ Hi)).
  rewrite <- lin_klin, (klin_comm R 0 1 Rplus Rmult rsr), (klin_seed R 0 1 Rplus Rmult rsr) in H3; auto.
  eapply is_derive_ext; [|exact H3]. intros z. simpl. now rewrite at_axis.
Qed.
End Grad.
