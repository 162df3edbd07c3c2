(** * Accumulation: the order of contributions.

    In a commutative monoid the order in which contributions are added is of no account, nor is who adds them:
    workers may add into zeroed buffers of their own that are added up later. Of floats this says which sums are
    the same number in exact arithmetic, not that they have the same bits. *)

From Coq Require Import List Arith Lia Permutation.
From Cotan Require Import Tape.
Import ListNotations.

Section Order.

Variables (W : Type) (w0 : W) (wadd : W -> W -> W).

Notation contribs := (Tape.contribs W).
Notation upd := (Tape.upd W wadd).
Notation scatter := (Tape.scatter W wadd).
Notation upd_length := (Tape.upd_length W wadd).
Notation scatter_length := (Tape.scatter_length W wadd).

Hypothesis wadd_comm : forall a b, wadd a b = wadd b a.
Hypothesis wadd_assoc : forall a b c, wadd a (wadd b c) = wadd (wadd a b) c.
Hypothesis wadd_0_r : forall a, wadd a w0 = a.

Lemma upd_comm i j c d gs : upd i c (upd j d gs) = upd j d (upd i c gs).
Proof.
  revert i j; induction gs as [|g gs IH]; intros [|i] [|j]; simpl; auto.
  - f_equal. rewrite <- !wadd_assoc. f_equal. apply wadd_comm.
  - f_equal. apply IH.
Qed.

Lemma scatter_upd cs i c gs : scatter cs (upd i c gs) = upd i c (scatter cs gs).
Proof.
  revert gs; induction cs as [|[p d] cs IH]; intros gs; simpl; auto.
  now rewrite upd_comm, IH.
Qed.

(** The order of contributions is of no account. *)
Theorem scatter_perm cs cs' gs : Permutation cs cs' -> scatter cs gs = scatter cs' gs.
Proof.
  intros H; revert gs; induction H as [|[p c] l l' H IH|[p c] [q d] l|l1 l2 l3 H1 IH1 H2 IH2];
    intros gs; simpl; auto.
  - now rewrite upd_comm.
  - now rewrite IH1.
Qed.

Lemma scatter_app cs cs' gs : scatter (cs ++ cs') gs = scatter cs' (scatter cs gs).
Proof. revert gs; induction cs as [|[p c] cs IH]; intros; simpl; auto. Qed.

Fixpoint vsum (a b : list W) : list W :=
  match a, b with
  | x :: a', y :: b' => wadd x y :: vsum a' b'
  | _, _ => []
  end.

Lemma vsum_length a b : length a = length b -> length (vsum a b) = length a.
Proof. revert b; induction a; intros [|y b] H; simpl in *; auto; try lia. Qed.

Lemma vsum_zeros a : vsum a (repeat w0 (length a)) = a.
Proof. induction a; simpl; auto. now rewrite wadd_0_r, IHa. Qed.

Lemma vsum_upd i c a b : length a = length b -> vsum a (upd i c b) = upd i c (vsum a b).
Proof.
  revert i b; induction a as [|x a IH]; intros i [|y b] H; simpl in *; try lia.
  - now destruct i.
  - destruct i; simpl; f_equal; auto.
Qed.

(** A worker that scatters into its own zeroed buffer, merged afterwards, is the
    same as scattering into the shared array. *)
Lemma scatter_private cs a b :
  length a = length b -> vsum a (scatter cs b) = scatter cs (vsum a b).
Proof.
  revert b; induction cs as [|[p c] cs IH]; intros b H; simpl; auto.
  rewrite IH by (now rewrite upd_length). now rewrite vsum_upd.
Qed.

Definition privatised (blocks : list contribs) (gs : list W) : list W :=
  fold_left vsum (map (fun cs => scatter cs (repeat w0 (length gs))) blocks) gs.

(** Buffers of their own, merged, hold what one shared array would. *)
Theorem privatised_correct blocks gs :
  privatised blocks gs = scatter (concat blocks) gs.
Proof.
  unfold privatised. set (n := length gs).
  assert (H : forall l, length l = n ->
    fold_left vsum (map (fun cs => scatter cs (repeat w0 n)) blocks) l = scatter (concat blocks) l).
  { induction blocks as [|cs bs IH]; intros l Hl; simpl; auto.
    assert (Hr : vsum l (scatter cs (repeat w0 n)) = scatter cs l).
    { rewrite scatter_private by (now rewrite repeat_length).
      rewrite <- Hl. now rewrite vsum_zeros. }
    rewrite Hr, scatter_app. apply IH. now rewrite scatter_length. }
  apply H. reflexivity.
Qed.

(** Blocks may be merged in any order, with any split of the contributions. *)
Corollary privatised_any_split blocks blocks' gs :
  Permutation (concat blocks) (concat blocks') ->
  privatised blocks gs = privatised blocks' gs.
Proof. intros H. rewrite !privatised_correct. now apply scatter_perm. Qed.

End Order.
