(** * Checkpoint: the reverse of a loop that keeps only some states.

    A plan says which states are kept and which iterations run again. Whatever the plan, and whatever a replay
    keeps on its way, the reverse is that of the unrolled iterations. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Loops.
Import ListNotations.

Section Checkpoint.
Variables (X W : Type).
Variable f : nat -> X -> X.
Variable bf : nat -> X -> W -> W.

Notation iter := (Loops.iter X f).
Notation unrolled := (Loops.unrolled X W f bf).
Notation save := (Loops.save X f).
Notation unwind := (Loops.unwind X W bf).
Notation stack_correct := (Loops.stack_correct X W f bf).

(** ** Plans made beforehand *)

Inductive plan :=
| Store (n : nat)                 (* n iterations, all states recorded *)
| Split (l r : plan).             (* keep the state, run l, reverse r, run l again and reverse it *)

Fixpoint trips (p : plan) : nat :=
  match p with Store n => n | Split l r => trips l + trips r end.

Fixpoint replay (p : plan) (k : nat) (x : X) (w : W) : W :=
  match p with
  | Store n => unwind (snd (save k n x [])) w
  | Split l r =>
      let m := trips l in
      replay l k x (replay r (k + m) (iter k m x) w)
  end.

Lemma unrolled_split m : forall n k x w,
  unrolled k (m + n) x w = unrolled k m x (unrolled (k + m) n (iter k m x) w).
Proof.
  induction m as [|m IH]; intros n k x w; simpl.
  - now rewrite Nat.add_0_r.
  - rewrite IH. now rewrite Nat.add_succ_r.
Qed.

(** Every plan computes the reverse of the unrolled iterations. *)
Theorem checkpoint_correct p : forall k x w, replay p k x w = unrolled k (trips p) x w.
Proof.
  induction p as [n|l IHl r IHr]; intros k x w; simpl.
  - apply stack_correct.
  - now rewrite IHl, IHr, unrolled_split.
Qed.

(** Two plans for the same number of iterations agree. *)
Corollary checkpoint_any_two p q k x w :
  trips p = trips q -> replay p k x w = replay q k x w.
Proof. intros H. now rewrite !checkpoint_correct, H. Qed.

(** The most states held at a time, and the iterations that run once more. *)
Fixpoint peak (p : plan) : nat :=
  match p with Store n => n | Split l r => max (peak l) (Datatypes.S (peak r)) end.
Fixpoint redone (p : plan) : nat :=
  match p with Store _ => 0 | Split l r => trips l + redone l + redone r end.

(** Segments of [c] iterations hold [s + c] states, and run the iterations before the last segment once more. *)
Fixpoint even (s c : nat) : plan :=
  match s with O => Store c | Datatypes.S s' => Split (Store c) (even s' c) end.
Lemma even_trips s c : trips (even s c) = (s + 1) * c.
Proof. induction s; simpl; lia. Qed.
Lemma even_peak s c : peak (even s c) = s + c.
Proof. induction s; simpl; [reflexivity|]. rewrite IHs. lia. Qed.
Lemma even_redone s c : redone (even s c) = s * c.
Proof. induction s; simpl; lia. Qed.

(** No even plan runs more than one more forward pass. *)
Theorem even_redone_once s c : redone (even s c) <= trips (even s c).
Proof. rewrite even_redone, even_trips. lia. Qed.

(** ** Counting what runs *)

(** The replay of a plan beside the number of iterations that it runs forward. *)
Fixpoint replay_counted (p : plan) (k : nat) (x : X) (w : W) : W * nat :=
  match p with
  | Store n => (unwind (snd (save k n x [])) w, length (snd (save k n x [])))
  | Split l r =>
      let (wr, nr) := replay_counted r (k + trips l) (iter k (trips l) x) w in
      let (wl, nl) := replay_counted l k x wr in
      (wl, trips l + nr + nl)
  end.

(** The counted replay is the replay, and runs each iteration once beside those that the plan runs again. *)
Theorem replay_cost p : forall k x w,
  replay_counted p k x w = (replay p k x w, trips p + redone p).
Proof.
  induction p as [n|l IHl r IHr]; intros k x w; simpl.
  - destruct (save_frame X f n k x []) as [top [E L]]. rewrite E, app_nil_r. f_equal. lia.
  - rewrite IHr, IHl. f_equal. lia.
Qed.

(** ** Snapshots chosen while the loop runs backwards *)

(** A snapshot is a state with the number of iterations before it. *)
Definition snapshot := (nat * X)%type.

(** A snapshot of the loop from [x0] that may serve when at most [m] iterations are to be made. *)
Definition serves (x0 : X) (m : nat) (s : snapshot) : Prop := fst s <= m /\ snd s = iter 0 (fst s) x0.

(** A schedule picks a snapshot to go on from, and the snapshots that are held afterwards. *)
Variable choose : nat -> list snapshot -> snapshot.
Variable hold : nat -> list snapshot -> list snapshot.

(** The reverse of [n] iterations: each runs the source forward from the snapshot that is picked. *)
Fixpoint from_snapshots (n : nat) (st : list snapshot) (w : W) : W :=
  match n with
  | O => w
  | Datatypes.S m =>
      let s := choose m st in
      from_snapshots m (hold m st) (bf m (iter (fst s) (m - fst s) (snd s)) w)
  end.

(** Snapshots that are held are true ones, and what is picked serves. *)
Definition schedule_ok (x0 : X) (ok : nat -> list snapshot -> Prop) : Prop :=
  forall m st, ok (Datatypes.S m) st -> serves x0 m (choose m st) /\ ok m (hold m st).

Lemma iter_add a : forall k b x, iter k (a + b) x = iter (k + a) b (iter k a x).
Proof.
  induction a as [|a IH]; intros k b x; simpl.
  - now rewrite Nat.add_0_r.
  - rewrite IH. now rewrite Nat.add_succ_r.
Qed.

(** Whatever snapshots are kept, replays from earlier ones compute the reverse of the unrolled iterations. *)
Theorem from_snapshots_correct x0 ok : schedule_ok x0 ok -> forall n st w,
  ok n st -> from_snapshots n st w = unrolled 0 n x0 w.
Proof.
  intros Hs; induction n as [|m IH]; intros st w H; [reflexivity|].
  destruct (Hs m st H) as [[Hle Hx] Hok]. cbn [from_snapshots]. rewrite IH by exact Hok.
  set (s := choose m st) in *.
  assert (E : iter (fst s) (m - fst s) (snd s) = iter 0 m x0).
  { rewrite Hx. rewrite <- (iter_add (fst s) 0). f_equal. lia. }
  rewrite E. replace (Datatypes.S m) with (m + 1) by lia. now rewrite unrolled_split.
Qed.

End Checkpoint.
