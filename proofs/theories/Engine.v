(** * Engine: the tape that runs.

    Recording a graph makes a list of entries: a value, and what its cotangent contributes to earlier ids. One
    loop from the last id to the first reads each cotangent once. It checks every id that is contributed to, and
    refuses one that is not smaller. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Tape.
Import ListNotations.

Section Engine.

Variables (S X T W : Type).
Variables (s0 : S) (sadd : S -> S -> S).
Hypothesis sadd_0_l : forall a, sadd s0 a = a.
Hypothesis sadd_comm : forall a b, sadd a b = sadd b a.
Hypothesis sadd_assoc : forall a b c, sadd a (sadd b c) = sadd (sadd a b) c.
Variables (w0 : W) (wadd : W -> W -> W).
Variable dot : nat -> T -> W -> S.
Hypothesis dot_add_r : forall i t a b, dot i t (wadd a b) = sadd (dot i t a) (dot i t b).
Variable t0 : T.

Notation node := (Tape.node X T W).
Notation graph := (Tape.graph X T W).
Notation contribs := (Tape.contribs W).
Notation eval := (Tape.eval X T W).
Notation push := (Tape.push X T W).
Notation back := (Tape.back X T W w0 wadd).
Notation upd := (Tape.upd W wadd).
Notation scatter := (Tape.scatter W wadd).
Notation earlier := (Tape.earlier W).
Notation graph_ok := (Tape.graph_ok S X T W s0 sadd dot t0).
Notation node_ok := (Tape.node_ok S X T W s0 sadd dot t0).
Notation pairing := (Tape.pairing S T W s0 sadd dot).
Notation fwd := (@Tape.fwd X T W).
Notation vjp := (@Tape.vjp X T W).

Notation upd_nth_other := (Tape.upd_nth_other W w0 wadd).
Notation scatter_length := (Tape.scatter_length W wadd).
Notation back_length := (Tape.back_length X T W w0 wadd).
Notation eval_length := (Tape.eval_length X T W).
Notation back_adjoint := (Tape.back_adjoint S X T W s0 sadd sadd_0_l sadd_comm sadd_assoc w0 wadd dot dot_add_r t0).
Notation upd_length := (Tape.upd_length W wadd).
Notation upd_nth_same := (Tape.upd_nth_same W w0 wadd).
Notation scatter_nth_later := (Tape.scatter_nth_later W w0 wadd).

(** ** The runtime tape *)

Record entry := Entry { value : X; backward : W -> contribs }.
Definition tape := list entry.

Definition leaf (x : X) : entry := Entry x (fun _ => []).

Definition record (tp : tape) (nd : node) : tape :=
  let xs := map value tp in tp ++ [Entry (fwd nd xs) (vjp nd xs)].

Definition compile (xs : list X) (g : graph) : tape :=
  fold_left record g (map leaf xs).

(** The runtime accumulates with a checked parent id, and refuses otherwise. *)
Fixpoint accumulate (id : nat) (cs : contribs) (gs : list W) : option (list W) :=
  match cs with
  | [] => Some gs
  | (p, c) :: cs' => if p <? id then accumulate id cs' (upd p c gs) else None
  end.

Definition step (tp : tape) (id : nat) (gs : list W) : option (list W) :=
  match nth_error tp id, nth_error gs id with
  | Some e, Some w => accumulate id (backward e w) gs
  | _, _ => None
  end.

(** Ids [k-1], ..., [0]. *)
Fixpoint loop (tp : tape) (k : nat) (gs : list W) : option (list W) :=
  match k with
  | O => Some gs
  | Datatypes.S k' => match step tp k' gs with Some gs' => loop tp k' gs' | None => None end
  end.

Definition backward_dense (tp : tape) (seed : list W) : option (list W) :=
  loop tp (length tp) seed.

(** ** Forward

    The recorded values are the values of the graph, in order. *)

Lemma map_value_leaf xs : map value (map leaf xs) = xs.
Proof. induction xs; simpl; congruence. Qed.

Lemma fold_record_values g : forall tp,
  map value (fold_left record g tp) = eval (map value tp) g.
Proof.
  induction g as [|nd g IH]; intros tp; simpl; auto.
  rewrite IH. unfold record. now rewrite map_app.
Qed.

Theorem forward_correspondence xs g : map value (compile xs g) = eval xs g.
Proof. unfold compile. now rewrite fold_record_values, map_value_leaf. Qed.

(** A tape has one entry per input and per node. *)
Corollary compile_length xs g : length (compile xs g) = length xs + length g.
Proof. now rewrite <- (map_length value), forward_correspondence, eval_length. Qed.

(** ** The invariant: contributions only to earlier ids *)

Definition tape_wf (tp : tape) : Prop :=
  forall id e w, nth_error tp id = Some e -> earlier id (backward e w).

Lemma tape_wf_leaves xs : tape_wf (map leaf xs).
Proof.
  intros id e w H. apply nth_error_In, in_map_iff in H. destruct H as [x [<- _]].
  constructor.
Qed.

Lemma tape_wf_record tp nd :
  tape_wf tp -> node_ok nd (map value tp) -> tape_wf (record tp nd).
Proof.
  intros Htp [Hear _] id e w. unfold record.
  destruct (Nat.lt_ge_cases id (length tp)) as [Hlt|Hge].
  - rewrite nth_error_app1 by auto. apply Htp.
  - rewrite nth_error_app2 by auto.
    destruct (id - length tp) as [|k] eqn:E; simpl; [|destruct k; discriminate].
    intros [= <-]; simpl. assert (id = length (map value tp)) as -> by (rewrite map_length; lia).
    apply Hear.
Qed.

Lemma tape_wf_fold g : forall tp,
  tape_wf tp -> graph_ok (map value tp) g -> tape_wf (fold_left record g tp).
Proof.
  induction g as [|nd g IH]; intros tp Htp Hok; simpl in *; auto.
  destruct Hok as [Hnd Hok]. apply IH.
  - now apply tape_wf_record.
  - unfold record. now rewrite map_app.
Qed.

(** What is compiled from a sound graph contributes to smaller ids only. *)
Theorem compile_wf xs g : graph_ok xs g -> tape_wf (compile xs g).
Proof.
  intros H. apply tape_wf_fold; [apply tape_wf_leaves | now rewrite map_value_leaf].
Qed.

Lemma accumulate_ok id cs gs : earlier id cs -> accumulate id cs gs = Some (scatter cs gs).
Proof.
  intros H; revert gs; induction H as [|[p c] cs Hp H IH]; intros gs; simpl; auto.
  simpl in Hp. apply Nat.ltb_lt in Hp. now rewrite Hp.
Qed.

(** A cotangent is final when it is read: step [id] leaves every slot [>= id]. *)
Theorem step_final tp id gs gs' j :
  step tp id gs = Some gs' -> id <= j -> nth j gs' w0 = nth j gs w0.
Proof.
  unfold step. destruct (nth_error tp id) as [e|]; [|discriminate].
  destruct (nth_error gs id) as [w|]; [|discriminate]. intros H Hj.
  revert gs H; induction (backward e w) as [|[p c] cs IH]; intros gs H; simpl in H.
  - congruence.
  - destruct (Nat.ltb_spec p id); [|discriminate].
    rewrite (IH _ H). apply upd_nth_other. lia.
Qed.

(** So the cotangents from [k] on are final when the loop comes to [k - 1]. *)
Theorem loop_final tp : forall k gs gs' j,
  loop tp k gs = Some gs' -> k <= j -> nth j gs' w0 = nth j gs w0.
Proof.
  induction k as [|k IH]; intros gs gs' j H Hj; simpl in H; [congruence|].
  destruct (step tp k gs) as [gs1|] eqn:E; [|discriminate].
  rewrite (IH _ _ _ H) by lia. eapply step_final; eauto. lia.
Qed.

(** On a well-formed tape the loop never refuses. *)
Theorem loop_total tp : tape_wf tp -> forall k gs,
  k <= length tp -> length tp = length gs -> exists gs', loop tp k gs = Some gs'.
Proof.
  intros Hwf; induction k as [|k IH]; intros gs Hk Hl; simpl; [eauto|].
  unfold step.
  destruct (nth_error tp k) as [e|] eqn:Ee; [|apply nth_error_None in Ee; lia].
  destruct (nth_error gs k) as [w|] eqn:Ew; [|apply nth_error_None in Ew; lia].
  rewrite accumulate_ok by (eapply Hwf; eauto).
  apply IH; [lia | rewrite scatter_length; lia].
Qed.

(** ** The dense loop *)

Lemma loop_app tp tp' : forall k gs,
  k <= length tp -> loop (tp ++ tp') k gs = loop tp k gs.
Proof.
  induction k as [|k IH]; intros gs Hk; simpl; auto.
  unfold step. rewrite nth_error_app1 by lia.
  destruct (nth_error tp k), (nth_error gs k); auto.
  destruct (accumulate k _ _); auto. apply IH; lia.
Qed.

Lemma loop_leaves xs : forall k gs,
  k <= length xs -> k <= length gs -> loop (map leaf xs) k gs = Some gs.
Proof.
  induction k as [|k IH]; intros gs Hx Hg; simpl; auto.
  unfold step. rewrite nth_error_map.
  destruct (nth_error xs k) eqn:Ex; [|apply nth_error_None in Ex; lia].
  destruct (nth_error gs k) eqn:Eg; [|apply nth_error_None in Eg; lia].
  simpl. apply IH; lia.
Qed.

Lemma fold_record_prefix g : forall tp, exists tl,
  fold_left record g tp = tp ++ tl /\ length tl = length g.
Proof.
  induction g as [|nd g IH]; intros tp; simpl.
  - exists []; split; auto. now rewrite app_nil_r.
  - destruct (IH (record tp nd)) as [tl [E L]].
    exists (Entry (fwd nd (map value tp)) (vjp nd (map value tp)) :: tl); split.
    + rewrite E. unfold record. now rewrite <- app_assoc.
    + simpl; lia.
Qed.

Lemma loop_fold g : forall tp seed,
  graph_ok (map value tp) g -> length seed = length tp + length g ->
  loop (fold_left record g tp) (length tp + length g) seed
  = loop tp (length tp) (back (map value tp) g seed).
Proof.
  induction g as [|nd g IH]; intros tp seed Hok Hs; simpl in *.
  - now rewrite Nat.add_0_r.
  - destruct Hok as [[Hear Hadj] Hok].
    set (e := Entry (fwd nd (map value tp)) (vjp nd (map value tp))).
    assert (Hlen : length (record tp nd) = Datatypes.S (length tp))
      by (unfold record; rewrite app_length; simpl; lia).
    replace (length tp + Datatypes.S (length g)) with (length (record tp nd) + length g) by lia.
    assert (Hval : map value (record tp nd) = map value tp ++ [fwd nd (map value tp)])
      by (unfold record; now rewrite map_app).
    rewrite IH; [| now rewrite Hval | lia].
    rewrite Hval. set (gs := back (map value tp ++ [fwd nd (map value tp)]) g seed).
    rewrite Hlen. simpl.
    assert (Hgs : length gs = length seed) by apply back_length.
    unfold step at 1. unfold record at 1.
    rewrite nth_error_app2, Nat.sub_diag by lia. simpl.
    rewrite (nth_error_nth' gs w0) by lia.
    rewrite map_length in *.
    rewrite accumulate_ok by apply Hear.
    unfold record. apply loop_app. lia.
Qed.

(** The loop that runs computes the cotangent of every input and every intermediate value. *)
Theorem backward_dense_correct xs g seed :
  graph_ok xs g -> length seed = length xs + length g ->
  backward_dense (compile xs g) seed = Some (back xs g seed).
Proof.
  intros Hok Hs. unfold backward_dense. rewrite compile_length. unfold compile.
  pose proof (loop_fold g (map leaf xs) seed) as H.
  rewrite map_value_leaf, map_length in H. rewrite H by auto.
  rewrite loop_leaves; auto. rewrite back_length. lia.
Qed.

(** The loop that runs never refuses such a tape, and is the adjoint of forward mode. *)
Corollary backward_dense_adjoint xs ts g seed :
  graph_ok xs g -> length ts = length xs -> length seed = length xs + length g ->
  exists gs, backward_dense (compile xs g) seed = Some gs /\ length gs = length seed /\
    pairing (push xs ts g) seed = pairing ts (firstn (length xs) gs).
Proof.
  intros. exists (back xs g seed). split; [now apply backward_dense_correct|].
  split; [apply back_length | now apply back_adjoint].
Qed.
(** ** The loop that skips *)

Section Skip.
Variable isz : W -> bool.     (* what the loop takes for a zero cotangent *)
Hypothesis wadd_0_r' : forall a, wadd a w0 = a.

Definition zero_preserving (tp : tape) : Prop :=
  forall e, In e tp -> forall w, isz w = true -> Forall (fun pc => snd pc = w0) (backward e w).

Definition step_skip (tp : tape) (id : nat) (gs : list W) : option (list W) :=
  match nth_error tp id, nth_error gs id with
  | Some e, Some w => if isz w then Some gs else accumulate id (backward e w) gs
  | _, _ => None
  end.

Fixpoint loop_skip (tp : tape) (k : nat) (gs : list W) : option (list W) :=
  match k with
  | O => Some gs
  | Datatypes.S k' =>
      match step_skip tp k' gs with Some gs' => loop_skip tp k' gs' | None => None end
  end.

Lemma upd_zero i gs : upd i w0 gs = gs.
Proof. revert i; induction gs as [|g gs IH]; intros [|i]; simpl; f_equal; auto. Qed.

Lemma accumulate_zero id cs gs :
  earlier id cs -> Forall (fun pc => snd pc = w0) cs -> accumulate id cs gs = Some gs.
Proof.
  intros He Hz. rewrite accumulate_ok by auto. f_equal. clear He.
  induction Hz as [|[p c] cs Hc Hz IH]; simpl in *; auto. subst. now rewrite upd_zero.
Qed.

(** A loop that skips zero cotangents computes the same, if a zero cotangent contributes zeros. *)
Theorem loop_skip_correct tp : tape_wf tp -> zero_preserving tp -> forall k gs,
  loop_skip tp k gs = loop tp k gs.
Proof.
  intros Hwf Hz; induction k as [|k IH]; intros gs; simpl; auto.
  assert (E : step_skip tp k gs = step tp k gs).
  { unfold step_skip, step.
    destruct (nth_error tp k) as [e|] eqn:Ee; auto.
    destruct (nth_error gs k) as [w|] eqn:Ew; auto.
    destruct (isz w) eqn:Ez; auto. symmetry. apply accumulate_zero.
    - eapply Hwf; eauto.
    - eapply Hz; eauto. eapply nth_error_In; eauto. }
  rewrite E. destruct (step tp k gs); auto.
Qed.
End Skip.

End Engine.
