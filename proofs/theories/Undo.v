(** * Undo: in-place updates, and the log that takes them back.

    A memory maps addresses to values.  A step overwrites addresses one after the
    other; before each store the forward run logs the address and what was there.
    Popping the log restores every earlier memory, so a reverse sweep needs no copies
    of the states: it undoes a step, then applies the pullback of the step. *)

From Coq Require Import List Arith Lia.
Import ListNotations.

Section Undo.
Variable V : Type.

Definition mem := nat -> V.
Definition same (m m' : mem) : Prop := forall a, m a = m' a.

Definition set (m : mem) (a : nat) (v : V) : mem := fun b => if Nat.eqb b a then v else m b.

(** A store: an address, and a value computed from the memory. *)
Definition store := (nat * (mem -> V))%type.
Definition entry := (nat * V)%type.

(** A step is a list of stores. *)
Fixpoint run (ss : list store) (m : mem) : mem :=
  match ss with [] => m | (a, f) :: ss' => run ss' (set m a (f m)) end.

(** The same with a log, the last store first. *)
Fixpoint run_logged (ss : list store) (m : mem) (log : list entry) : mem * list entry :=
  match ss with
  | [] => (m, log)
  | (a, f) :: ss' => run_logged ss' (set m a (f m)) ((a, m a) :: log)
  end.

(** Taking back [n] stores. *)
Fixpoint undo (n : nat) (m : mem) (log : list entry) : mem * list entry :=
  match n, log with
  | S n', (a, v) :: log' => undo n' (set m a v) log'
  | _, _ => (m, log)
  end.

(** Logging changes nothing else, and adds one entry for each store. *)
Theorem logged_same ss : forall m log,
  fst (run_logged ss m log) = run ss m /\
  exists top, snd (run_logged ss m log) = top ++ log /\ length top = length ss.
Proof.
  induction ss as [|[a f] ss IH]; intros m log; simpl.
  - split; auto. exists []. auto.
  - destruct (IH (set m a (f m)) ((a, m a) :: log)) as [H1 [top [H2 H3]]].
    split; auto. exists (top ++ [(a, m a)]). rewrite H2, <- app_assoc. split; auto.
    rewrite app_length. simpl. lia.
Qed.

Lemma set_back m a v : same (set (set m a v) a (m a)) m.
Proof. intros b. unfold set. destruct (Nat.eqb_spec b a); congruence. Qed.

Lemma set_same m m' a v : same m m' -> same (set m a v) (set m' a v).
Proof. intros H b. unfold set. now destruct (Nat.eqb b a). Qed.

Lemma undo_same n : forall m m' log, same m m' ->
  same (fst (undo n m log)) (fst (undo n m' log)) /\ snd (undo n m log) = snd (undo n m' log).
Proof.
  induction n as [|n IH]; intros m m' log H; simpl; auto.
  destruct log as [|[a v] log]; simpl; auto. apply IH. now apply set_same.
Qed.

Lemma undo_more i : forall j m log,
  undo (i + j) m log = undo j (fst (undo i m log)) (snd (undo i m log)).
Proof.
  induction i as [|i IH]; intros j m log; simpl; auto.
  destruct log as [|[a v] log]; simpl; auto. now destruct j.
Qed.

Lemma run_logged_app ss1 : forall ss2 m log,
  run_logged (ss1 ++ ss2) m log = run_logged ss2 (fst (run_logged ss1 m log)) (snd (run_logged ss1 m log)).
Proof. induction ss1 as [|[a f] ss1 IH]; intros; simpl; auto. Qed.

(** Undoing a whole step gives the memory and the log from before it: steps may share a
    log, as frames of a stack do. *)
Theorem undo_step ss : forall m log,
  let (m', log') := run_logged ss m log in
  same (fst (undo (length ss) m' log')) m /\ snd (undo (length ss) m' log') = log.
Proof.
  induction ss as [|[a f] ss IH]; intros m log; simpl run_logged.
  - simpl. split; [intros b|]; reflexivity.
  - specialize (IH (set m a (f m)) ((a, m a) :: log)).
    destruct (run_logged ss (set m a (f m)) ((a, m a) :: log)) as [m' log'].
    destruct IH as [H1 H2].
    cbn [length]. rewrite <- Nat.add_1_r.
    rewrite undo_more, H2. simpl. split; auto.
    intros b. rewrite (set_same _ _ a (m a) H1 b). apply set_back.
Qed.

(** The log restores every earlier memory: that before the last [n] stores, for every [n]. *)
Theorem undo_restores ss1 ss2 m log :
  let (m', log') := run_logged (ss1 ++ ss2) m log in
  same (fst (undo (length ss2) m' log')) (run ss1 m).
Proof.
  rewrite run_logged_app.
  destruct (logged_same ss1 m log) as [E _]. rewrite E.
  pose proof (undo_step ss2 (run ss1 m) (snd (run_logged ss1 m log))) as H.
  destruct (run_logged ss2 (run ss1 m) (snd (run_logged ss1 m log))) as [m' log']. apply H.
Qed.

(** ** The reverse sweep *)

Variable W : Type.
Variable pull : list store -> mem -> W -> W.   (* pullback of a step at the memory before it *)
Hypothesis pull_same : forall ss m m' w, same m m' -> pull ss m w = pull ss m' w.

(** Storing the memory before every step. *)
Fixpoint states (steps : list (list store)) (m : mem) : list mem :=
  match steps with [] => [] | ss :: steps' => m :: states steps' (run ss m) end.

Fixpoint stored_sweep (steps : list (list store)) (ms : list mem) (w : W) : W :=
  match steps, ms with
  | ss :: steps', m :: ms' => pull ss m (stored_sweep steps' ms' w)
  | _, _ => w
  end.

Fixpoint run_steps (steps : list (list store)) (m : mem) (log : list entry) : mem * list entry :=
  match steps with
  | [] => (m, log)
  | ss :: steps' => let (m', log') := run_logged ss m log in run_steps steps' m' log'
  end.

(** The sweep that keeps one memory, from the last step to the first: what is left of
    memory and log goes on to the step before. *)
Fixpoint undo_sweep (steps : list (list store)) (m : mem) (log : list entry) (w : W) : W * mem * list entry :=
  match steps with
  | [] => (w, m, log)
  | ss :: steps' =>
      match undo_sweep steps' m log w with
      | (w', m', log') =>
          let before := undo (length ss) m' log' in
          (pull ss (fst before) w', fst before, snd before)
      end
  end.

(** The sweep that undoes gives what the sweep that stored every state gives. *)
Theorem undo_reverse_correct steps : forall m log w,
  let (m', log') := run_steps steps m log in
  match undo_sweep steps m' log' w with
  | (w', m0, log0) => w' = stored_sweep steps (states steps m) w /\ same m0 m /\ log0 = log
  end.
Proof.
  induction steps as [|ss steps IH]; intros m log w; simpl.
  - repeat split.
  - destruct (logged_same ss m log) as [E _].
    pose proof (undo_step ss m log) as U.
    destruct (run_logged ss m log) as [m1 log1]. simpl in E. subst m1.
    specialize (IH (run ss m) log1 w).
    destruct (run_steps steps (run ss m) log1) as [m' log'].
    destruct (undo_sweep steps m' log' w) as [[w' m0] log0].
    destruct IH as [Hw [Hm Hl]]. subst w' log0. destruct U as [U1 U2].
    destruct (undo_same (length ss) m0 (run ss m) log1 Hm) as [S1 S2].
    assert (Hs : same (fst (undo (length ss) m0 log1)) m) by (intros a; rewrite (S1 a); apply U1).
    repeat split; auto.
    congruence.
Qed.
End Undo.
