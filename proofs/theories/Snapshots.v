(** * Snapshots: checkpoints where nobody knows how often a loop runs.

    The trip count is not known in advance, so no plan can be fixed: the forward
    run keeps some states and drops others as it goes.  To reverse step [j], the
    runtime replays from the nearest kept state at or before [j].  Whatever was
    kept, the cotangent is that of the reverse that stored everything. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Loops Checkpoint.
Import ListNotations.

Section Online.
Variables (X W : Type).
Variable f : nat -> X -> X.
Variable bf : nat -> X -> W -> W.

Notation iter := (iter X f).
Notation unrolled := (unrolled X W f bf).

Definition snapshots := list (nat * X).

(** The states of [n] trips with their step numbers. *)
Fixpoint states (k n : nat) (x : X) : snapshots :=
  match n with O => [] | S n' => (k, x) :: states (S k) n' (f k x) end.

(** The latest of [d] and the snapshots taken at or before [j]. *)
Fixpoint nearest (j : nat) (kept : snapshots) (d : nat * X) : nat * X :=
  match kept with
  | [] => d
  | s :: kept' => nearest j kept' (if andb (fst s <=? j) (fst d <=? fst s) then s else d)
  end.

(** Replay from the nearest snapshot up to step [j]. *)
Definition restore (kept : snapshots) (first : nat * X) (j : nat) : X :=
  let s := nearest j kept first in iter (fst s) (j - fst s) (snd s).

(** Reverse steps [k + n - 1], ..., [k]; [kept j] is what is kept when step [j] is
    reversed, so snapshots may be dropped or taken during the reverse as well. *)
Fixpoint online (kept : nat -> snapshots) (first : nat * X) (k n : nat) (w : W) : W :=
  match n with
  | O => w
  | S n' =>
      let j := k + n' in online kept first k n' (bf j (restore (kept j) first j) w)
  end.

(** [states] lists the states of the run. *)
Lemma states_in n : forall k x i y,
  In (i, y) (states k n x) -> k <= i < k + n /\ y = iter k (i - k) x.
Proof.
  induction n as [|n IH]; intros k x i y H; simpl in H; [contradiction|].
  destruct H as [[= <- <-]|H].
  - rewrite Nat.sub_diag. simpl. split; auto. lia.
  - destruct (IH _ _ _ _ H) as [H1 H2]. split; [lia|].
    replace (i - k) with (S (i - S k)) by lia. exact H2.
Qed.

(** A snapshot at [i <= j] that is true of the run from [x] at [k]. *)
Definition true_at (k : nat) (x : X) (j : nat) (s : nat * X) : Prop :=
  k <= fst s <= j /\ snd s = iter k (fst s - k) x.

Lemma nearest_true k x j kept : forall d,
  (forall i y, In (i, y) kept -> k <= i /\ y = iter k (i - k) x) ->
  true_at k x j d -> true_at k x j (nearest j kept d).
Proof.
  induction kept as [|[i y] kept IH]; intros d Hk Hd; simpl; auto.
  apply IH; [intros; apply Hk; now right|].
  destruct (Nat.leb_spec i j); simpl; auto. destruct (fst d <=? i); simpl; auto.
  destruct (Hk i y) as [H1 H2]; [now left|]. split; simpl; auto.
Qed.

(** It is indeed the nearest: no kept snapshot lies between it and [j]. *)
Lemma nearest_latest j kept : forall d,
  fst d <= fst (nearest j kept d) /\
  forall s, In s kept -> fst s <= j -> fst s <= fst (nearest j kept d).
Proof.
  induction kept as [|s0 kept IH]; intros d; simpl; [split; auto; contradiction|].
  set (d' := if andb (fst s0 <=? j) (fst d <=? fst s0) then s0 else d).
  destruct (IH d') as [H1 H2].
  assert (Hd : fst d <= fst d' /\ (fst s0 <= j -> fst s0 <= fst d')).
  { unfold d'. destruct (Nat.leb_spec (fst s0) j), (Nat.leb_spec (fst d) (fst s0)); simpl; lia. }
  split; [lia|]. intros s [<-|Hs] Hj; [|now apply H2]. destruct Hd as [_ Hd]. specialize (Hd Hj). lia.
Qed.

(** Replaying gives the state the forward run had. *)
Theorem restore_correct k x n kept j : k <= j -> incl kept (states k n x) ->
  restore kept (k, x) j = iter k (j - k) x.
Proof.
  intros Hj Hk. unfold restore.
  destruct (nearest_true k x j kept (k, x)) as [H1 H2].
  - intros i y Hi. destruct (states_in n k x i y (Hk _ Hi)). split; auto. lia.
  - split; simpl; [lia|]. now rewrite Nat.sub_diag.
  - set (s := nearest j kept (k, x)) in *. rewrite H2.
    replace (j - k) with ((fst s - k) + (j - fst s)) by lia.
    rewrite (iter_add X f). f_equal. lia.
Qed.

Lemma unrolled_snoc n k x w :
  unrolled k (S n) x w = unrolled k n x (bf (k + n) (iter k n x) w).
Proof. rewrite <- Nat.add_1_r. now rewrite unrolled_split. Qed.

(** What is kept may change from one reversed step to the next: as long as every
    snapshot is a state of the run, and the first state is there, the cotangent is
    the one of the unrolled reverse. *)
Theorem online_varying k x N kept :
  (forall j, incl (kept j) (states k N x)) ->
  forall n w, online kept (k, x) k n w = unrolled k n x w.
Proof.
  intros Hk; induction n as [|n IH]; intros w; [reflexivity|].
  rewrite unrolled_snoc. simpl. rewrite IH. f_equal.
  rewrite (restore_correct k x N) by (auto; lia). do 2 f_equal. lia.
Qed.

(** Any set of snapshots, besides the first state (passed apart, since it is
    always kept), gives the reverse that stored every state. *)
Theorem online_correct k n x w kept :
  incl kept (states k n x) ->
  online (fun _ => kept) (k, x) k n w = unwind X W bf (snd (save X f k n x [])) w.
Proof.
  intros Hk. destruct (stack_correct X W f bf k n x w) as [_ ->].
  now apply online_varying with (N := n).
Qed.

End Online.
