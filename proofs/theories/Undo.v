(** * Undo: reversing a program that overwrites its memory.

    A memory maps addresses to values.  A store overwrites one address; before
    it does so, the forward run pushes the old value on a log.  The reverse pops
    the log and so sees again every memory of the forward run, last one first,
    without having kept a copy of any of them.  Memories are functions, so they
    are compared address by address; no function extensionality is assumed. *)

From Coq Require Import List Arith Lia Ring_theory.
From Cotan Require Import Tensor Loops.
Import ListNotations.

Section Undo.
Variable V : Type.

Definition mem := nat -> V.
Definition meq (m m' : mem) : Prop := forall a, m a = m' a.

Definition put (a : nat) (v : V) (m : mem) : mem := fun b => if b =? a then v else m b.

(** An address, and the value computed from the current memory. *)
Definition store := (nat * (mem -> V))%type.
Definition log := list (nat * V).

Definition exec (s : store) (m : mem) : mem := put (fst s) (snd s m) m.

Fixpoint run (p : list store) (m : mem) : mem :=
  match p with [] => m | s :: p' => run p' (exec s m) end.

(** The last store is on top of the log. *)
Fixpoint run_logged (p : list store) (m : mem) (lg : log) : mem * log :=
  match p with
  | [] => (m, lg)
  | s :: p' => run_logged p' (exec s m) ((fst s, m (fst s)) :: lg)
  end.

(** Pop every entry of [lg], top first. *)
Fixpoint undo (lg : log) (m : mem) : mem :=
  match lg with [] => m | (a, v) :: lg' => undo lg' (put a v m) end.

(** ** Pointwise equality *)

Lemma meq_refl m : meq m m.
Proof. intros a; reflexivity. Qed.
Lemma meq_sym m m' : meq m m' -> meq m' m.
Proof. intros H a; now rewrite H. Qed.
Lemma meq_trans m1 m2 m3 : meq m1 m2 -> meq m2 m3 -> meq m1 m3.
Proof. intros H1 H2 a; now rewrite H1. Qed.

Lemma put_meq a v m m' : meq m m' -> meq (put a v m) (put a v m').
Proof. intros H b. unfold put. destruct (b =? a); auto. Qed.

Lemma undo_meq lg : forall m m', meq m m' -> meq (undo lg m) (undo lg m').
Proof.
  induction lg as [|[a v] lg IH]; intros m m' H; simpl; auto.
  apply IH. now apply put_meq.
Qed.

Lemma undo_app l1 l2 m : undo (l1 ++ l2) m = undo l2 (undo l1 m).
Proof. revert m; induction l1 as [|[a v] l1 IH]; intros m; simpl; auto. Qed.

Lemma run_app p q m : run (p ++ q) m = run q (run p m).
Proof. revert m; induction p as [|s p IH]; intros m; simpl; auto. Qed.

(** Putting the old value back undoes one store. *)
Lemma exec_undo s m : meq (put (fst s) (m (fst s)) (exec s m)) m.
Proof.
  intros b. unfold exec, put. destruct (Nat.eqb_spec b (fst s)) as [->|]; auto.
Qed.

(** ** The logged run *)

(** Logging does not change what the program computes. *)
Theorem logged_same p : forall m lg, fst (run_logged p m lg) = run p m.
Proof. induction p as [|s p IH]; intros m lg; simpl; auto. Qed.

(** The entries of a run lie on top of the log it was given, one per store. *)
Lemma logged_frame p : forall m lg, exists top,
  snd (run_logged p m lg) = top ++ lg /\ length top = length p /\ meq (undo top (run p m)) m.
Proof.
  induction p as [|s p IH]; intros m lg; simpl.
  - exists []. repeat split.
  - destruct (IH (exec s m) ((fst s, m (fst s)) :: lg)) as [top [E [L U]]].
    exists (top ++ [(fst s, m (fst s))]). repeat split.
    + now rewrite E, <- app_assoc.
    + rewrite app_length; simpl; lia.
    + rewrite undo_app. simpl. apply meq_trans with (put (fst s) (m (fst s)) (exec s m)).
      * now apply put_meq.
      * apply exec_undo.
Qed.

Lemma run_logged_app p q m lg :
  run_logged (p ++ q) m lg =
  run_logged q (fst (run_logged p m lg)) (snd (run_logged p m lg)).
Proof. revert m lg; induction p as [|s p IH]; intros m lg; simpl; auto. Qed.

Lemma firstn_exact {A} (l1 l2 : list A) n : length l1 = n -> firstn n (l1 ++ l2) = l1.
Proof. intros <-. rewrite firstn_app, Nat.sub_diag, firstn_all. simpl. apply app_nil_r. Qed.
Lemma skipn_exact {A} (l1 l2 : list A) n : length l1 = n -> skipn n (l1 ++ l2) = l2.
Proof. intros <-. rewrite skipn_app, Nat.sub_diag, skipn_all. reflexivity. Qed.

(** Popping the last [n - k] entries brings back the memory before step [k],
    and leaves on the log exactly what a run of the first [k] steps leaves. *)
Theorem undo_restores p k m lg : k <= length p ->
  let r := run_logged p m lg in
  meq (undo (firstn (length p - k) (snd r)) (fst r)) (run (firstn k p) m) /\
  skipn (length p - k) (snd r) = snd (run_logged (firstn k p) m lg).
Proof.
  intros Hk r. unfold r.
  assert (E : p = firstn k p ++ skipn k p) by (symmetry; apply firstn_skipn).
  assert (R : run p m = run (skipn k p) (run (firstn k p) m)) by (rewrite <- run_app; now rewrite <- E).
  rewrite logged_same, R.
  assert (Q : run_logged p m lg =
    run_logged (skipn k p) (run (firstn k p) m) (snd (run_logged (firstn k p) m lg))).
  { rewrite E at 1. rewrite run_logged_app. now rewrite logged_same. }
  rewrite Q.
  destruct (logged_frame (skipn k p) (run (firstn k p) m) (snd (run_logged (firstn k p) m lg)))
    as [top [E1 [L U]]].
  rewrite skipn_length in L. rewrite E1. split.
  - rewrite firstn_exact by auto. exact U.
  - now apply skipn_exact.
Qed.

(** Popping the whole log of a run gives back the memory it started from. *)
Theorem undo_all p m :
  meq (undo (snd (run_logged p m [])) (fst (run_logged p m []))) m.
Proof.
  destruct (logged_frame p m []) as [top [E [_ U]]].
  rewrite E, app_nil_r, logged_same. exact U.
Qed.

(** The log is as long as the number of stores, whatever the size of the memory. *)
Theorem log_length p m lg : length (snd (run_logged p m lg)) = length p + length lg.
Proof. destruct (logged_frame p m lg) as [top [E [L _]]]. rewrite E, app_length; lia. Qed.

(** ** A loop whose trips store in place

    Trip [k] chooses its stores from the memory at its entry, so their number may
    depend on data.  All trips share one log; a stack of frames (trip, number of
    stores) says how far to pop. *)

Section Sweep.
Variables (W : Type).
Variable body : nat -> mem -> list store.
Variable bf : nat -> mem -> W -> W.     (* pullback of trip [k] at its entry memory *)
Hypothesis bf_ext : forall k m m' w, meq m m' -> bf k m w = bf k m' w.

Definition trip (k : nat) (m : mem) : mem := run (body k m) m.

(** The reverse that has stored every memory: the stack of [Loops]. *)
Definition stored_sweep (k n : nat) (m : mem) (w : W) : W :=
  unwind mem W bf (snd (save mem trip k n m [])) w.

Definition frames := list (nat * nat).

Fixpoint loop_logged (k n : nat) (m : mem) (lg : log) (fr : frames) : mem * log * frames :=
  match n with
  | O => (m, lg, fr)
  | S n' =>
      let r := run_logged (body k m) m lg in
      loop_logged (S k) n' (fst r) (snd r) ((k, length (body k m)) :: fr)
  end.

(** Pop a frame: restore the memory before the trip, then pull back there. *)
Fixpoint sweep (fr : frames) (m : mem) (lg : log) (w : W) : mem * log * W :=
  match fr with
  | [] => (m, lg, w)
  | (k, c) :: fr' =>
      let m' := undo (firstn c lg) m in
      sweep fr' m' (skipn c lg) (bf k m' w)
  end.

Definition undo_sweep (k n : nat) (m : mem) (w : W) : W :=
  let '(m', lg, fr) := loop_logged k n m [] [] in snd (sweep fr m' lg w).

Lemma sweep_app f1 f2 m lg w :
  sweep (f1 ++ f2) m lg w =
  let '(m', lg', w') := sweep f1 m lg w in sweep f2 m' lg' w'.
Proof.
  revert m lg w; induction f1 as [|[k c] f1 IH]; intros m lg w; simpl; auto.
Qed.

(** Logging every store of every trip leaves the loop as it was. *)
Theorem loop_logged_same n : forall k m lg fr,
  fst (fst (loop_logged k n m lg fr)) = iter mem trip k n m.
Proof.
  induction n as [|n IH]; intros k m lg fr; simpl; auto.
  rewrite IH. now rewrite logged_same.
Qed.

(** One log serves all the stores of all the trips: the frames of a loop lie on
    top of what was there, and sweeping them gives the cotangent of the unrolled
    reverse, the start memory, and the log as it was found. *)
Theorem frames_correct n : forall k m lg fr w, exists m' lg' top m0,
  loop_logged k n m lg fr = (m', lg', top ++ fr) /\ length top = n /\
  sweep top m' lg' w = (m0, lg, unrolled mem W trip bf k n m w) /\ meq m0 m.
Proof.
  induction n as [|n IH]; intros k m lg fr w; simpl.
  - exists m, lg, [], m. repeat split.
  - destruct (logged_frame (body k m) m lg) as [es [E [L U]]].
    destruct (IH (S k) (fst (run_logged (body k m) m lg)) (snd (run_logged (body k m) m lg))
                 ((k, length (body k m)) :: fr) w)
      as [m' [lg' [top [m0 [H1 [H2 [H3 H4]]]]]]].
    rewrite logged_same in H3, H4.
    assert (H5 : meq (undo es m0) m).
    { apply meq_trans with (undo es (run (body k m) m)); [now apply undo_meq | exact U]. }
    exists m', lg', (top ++ [(k, length (body k m))]), (undo es m0). repeat split; auto.
    + now rewrite H1, <- app_assoc.
    + rewrite app_length; simpl; lia.
    + rewrite sweep_app, H3. simpl. rewrite E, firstn_exact, skipn_exact by auto.
      f_equal. now apply bf_ext.
Qed.

(** Restoring memories by popping the log gives the same cotangent as having
    stored a copy of every memory. *)
Theorem undo_reverse_correct k n m w : undo_sweep k n m w = stored_sweep k n m w.
Proof.
  unfold undo_sweep, stored_sweep.
  destruct (frames_correct n k m [] [] w) as [m' [lg' [top [m0 [H1 [_ [H3 _]]]]]]].
  rewrite H1, app_nil_r, H3. simpl. symmetry. apply stack_correct.
Qed.

(** After the sweep the memory is the start memory again and the log is empty. *)
Theorem undo_sweep_clean k n m w :
  let '(m', lg, fr) := loop_logged k n m [] [] in
  let '(m0, lg0, _) := sweep fr m' lg w in meq m0 m /\ lg0 = [].
Proof.
  destruct (frames_correct n k m [] [] w) as [m' [lg' [top [m0 [H1 [_ [H3 H4]]]]]]].
  rewrite H1, app_nil_r, H3. auto.
Qed.

(** The adjoint: with an adjoint pullback per trip, the undoing sweep is the
    adjoint of the pushforward of the whole loop. *)
Theorem undo_adjoint (R T : Type) (pair : T -> W -> R) (jf : nat -> mem -> T -> T) :
  (forall k m t w, pair (jf k m t) w = pair t (bf k m w)) ->
  forall k n m t w,
  pair (jiter mem T trip jf k n m t) w = pair t (undo_sweep k n m w).
Proof.
  intros Hadj k n m t w. rewrite undo_reverse_correct. unfold stored_sweep.
  destruct (stack_correct mem W trip bf k n m w) as [_ ->].
  now apply unrolled_adjoint.
Qed.

End Sweep.

(** ** A straight program: one store per step *)

Section Straight.
Variables (W : Type) (p : list store).
Variable bf : nat -> mem -> W -> W.
Hypothesis bf_ext : forall k m m' w, meq m m' -> bf k m w = bf k m' w.

Definition step_of (k : nat) (_ : mem) : list store :=
  match nth_error p k with Some s => [s] | None => [] end.

Fixpoint reverse_of (k : nat) (q : list store) (m : mem) (w : W) : W :=
  match q with [] => w | s :: q' => bf k m (reverse_of (S k) q' (exec s m) w) end.

Lemma straight_spec q : forall l m w, p = l ++ q ->
  iter mem (trip step_of) (length l) (length q) m = run q m /\
  unrolled mem W (trip step_of) bf (length l) (length q) m w = reverse_of (length l) q m w.
Proof.
  induction q as [|s q IH]; intros l m w E; simpl; [auto|].
  assert (Hs : trip step_of (length l) m = exec s m).
  { unfold trip, step_of. rewrite E, nth_error_app2, Nat.sub_diag by auto. reflexivity. }
  rewrite Hs. destruct (IH (l ++ [s]) (exec s m) w) as [H1 H2].
  - now rewrite <- app_assoc.
  - rewrite app_length, Nat.add_1_r in H1, H2. split; [exact H1 | now rewrite H2].
Qed.

(** For a straight program the undoing sweep is the structural reverse. *)
Theorem undo_reverse_program m w :
  undo_sweep W step_of bf 0 (length p) m w = reverse_of 0 p m w.
Proof.
  rewrite undo_reverse_correct by auto. unfold stored_sweep.
  destruct (stack_correct mem W (trip step_of) bf 0 (length p) m w) as [_ ->].
  now apply (straight_spec p []).
Qed.
End Straight.
End Undo.

(** ** The pullback of one store

    The tangent of the overwritten address is lost, so its cotangent is cleared
    and sent to what the new value read. *)

Section StoreAdjoint.
Variables (K : Type) (k0 k1 : K) (kadd kmul : K -> K -> K).
Hypothesis KR : semi_ring_theory k0 k1 kadd kmul eq.
Add Ring Kst : KR.

Notation dotn := (dotn K k0 kadd kmul).

(** [grad b] is the partial of the stored value by address [b]. *)
Definition store_push (d a : nat) (grad t : nat -> K) : nat -> K := put K a (dotn d grad t) t.
Definition store_pull (a : nat) (grad w : nat -> K) : nat -> K :=
  fun b => kadd (if b =? a then k0 else w b) (kmul (w a) (grad b)).

(** Clearing then accumulating is the adjoint of overwriting, also when the new
    value reads the address it overwrites. *)
Theorem store_adjoint d a grad t w : a < d ->
  dotn d (store_push d a grad t) w = dotn d t (store_pull a grad w).
Proof.
  intros Ha. unfold store_push, store_pull. set (v := dotn d grad t).
  transitivity (kadd (dotn d t (fun b => if b =? a then k0 else w b)) (kmul v (w a))).
  - rewrite <- (sum_delta K k0 k1 kadd kmul KR d a (fun b => kmul v (w b))) by auto.
    unfold Tensor.dotn. rewrite <- (sum_add K k0 k1 kadd kmul KR). apply sum_ext. intros b _.
    unfold put, delta. rewrite (Nat.eqb_sym a b). destruct (b =? a); ring.
  - unfold v, Tensor.dotn. rewrite (sum_mul_r K k0 k1 kadd kmul KR), <- (sum_add K k0 k1 kadd kmul KR).
    apply sum_ext. intros b _. ring.
Qed.
End StoreAdjoint.
