(** * Cost: what the reverse loop does, counted.

    The loop of [Tape] is instrumented with two counters: nodes visited, and
    contributions accumulated.  The counters do not change the result; the bounds
    are linear in the forward program. *)

From Coq Require Import List Arith Lia Ring_theory.
From Cotan Require Import Tape Scalar Checkpoint.
Import ListNotations.

Section Cost.
Variables (X T W : Type).
Variable wadd : W -> W -> W.

Notation tape := (tape X W).
Notation backward := (backward X W).
Notation loop := (loop X W wadd).
Notation accumulate := (accumulate W wadd).

Fixpoint accumulate_counted (id : nat) (cs : contribs W) (gs : list W) (n : nat)
  : option (list W * nat) :=
  match cs with
  | [] => Some (gs, n)
  | (p, c) :: cs' =>
      if p <? id then accumulate_counted id cs' (upd W wadd p c gs) (S n) else None
  end.

Definition step_counted (tp : tape) (id : nat) (gs : list W) (n : nat) : option (list W * nat) :=
  match nth_error tp id, nth_error gs id with
  | Some e, Some w => accumulate_counted id (backward e w) gs n
  | _, _ => None
  end.

(** Cotangents, visits, accumulations; the counters start at [v] and [n]. *)
Fixpoint loop_count (tp : tape) (k : nat) (gs : list W) (v n : nat) : option (list W * nat * nat) :=
  match k with
  | O => Some (gs, v, n)
  | S k' =>
      match step_counted tp k' gs n with
      | Some (gs', n') => loop_count tp k' gs' (S v) n'
      | None => None
      end
  end.
Definition loop_counted tp k gs := loop_count tp k gs 0 0.

Lemma accumulate_counted_spec id cs : forall gs n,
  accumulate_counted id cs gs n =
  match accumulate id cs gs with Some gs' => Some (gs', n + length cs) | None => None end.
Proof.
  induction cs as [|[p c] cs IH]; intros gs n; simpl.
  - now rewrite Nat.add_0_r.
  - destruct (p <? id); auto. rewrite IH.
    destruct (Engine.accumulate _ _ _ _ _); auto. now rewrite Nat.add_succ_r.
Qed.

Lemma loop_count_same tp : forall k gs v n,
  option_map (fun r => fst (fst r)) (loop_count tp k gs v n) = loop tp k gs.
Proof.
  induction k as [|k IH]; intros gs v n; simpl; auto.
  unfold step_counted, step.
  destruct (nth_error tp k) as [e|]; auto. destruct (nth_error gs k) as [w|]; auto.
  rewrite accumulate_counted_spec. destruct (Engine.accumulate _ _ _ _ _); auto.
Qed.

(** Counting does not change the result, nor whether there is one. *)
Theorem counted_same tp k gs :
  option_map (fun r => fst (fst r)) (loop_counted tp k gs) = loop tp k gs.
Proof. apply loop_count_same. Qed.

(** On a well-formed tape the counted loop never refuses. *)
Theorem counted_total tp seed : tape_wf X W tp -> length tp = length seed ->
  exists gs v n, loop_counted tp (length tp) seed = Some (gs, v, n).
Proof.
  intros Hw Hl. destruct (loop_total X W wadd tp Hw (length tp) seed (le_n _) Hl) as [gs H].
  rewrite <- counted_same in H.
  destruct (loop_counted tp (length tp) seed) as [[[g v] n]|]; [eauto | discriminate].
Qed.

(** ** Time *)

(** Entry [i] emits at most [bs_i] contributions, whatever the cotangent. *)
Definition bounded (tp : tape) (bs : list nat) : Prop :=
  Forall2 (fun e b => forall w, length (backward e w) <= b) tp bs.

Lemma bounded_nth tp bs k e w : bounded tp bs -> nth_error tp k = Some e ->
  length (backward e w) <= nth k bs 0.
Proof.
  intros H; revert k; induction H as [|e' b tp bs Hb H IH]; intros [|k] E; simpl in *; try discriminate; auto.
  now injection E as ->.
Qed.

Lemma sum_firstn_S k bs : list_sum (firstn (S k) bs) = list_sum (firstn k bs) + nth k bs 0.
Proof.
  revert k; induction bs as [|b bs IH]; intros [|k]; simpl; try lia.
  change (b + list_sum (firstn (S k) bs) = b + list_sum (firstn k bs) + nth k bs 0).
  rewrite IH; lia.
Qed.

Lemma loop_count_bound tp bs : bounded tp bs -> forall k gs v n gs' v' n',
  loop_count tp k gs v n = Some (gs', v', n') ->
  v' = v + k /\ n' <= n + list_sum (firstn k bs).
Proof.
  intros Hb; induction k as [|k IH]; intros gs v n gs' v' n' H.
  - simpl in H. injection H as <- <- <-. lia.
  - simpl in H. unfold step_counted in H.
    destruct (nth_error tp k) as [e|] eqn:E; [|discriminate].
    destruct (nth_error gs k) as [w|]; [|discriminate].
    rewrite accumulate_counted_spec in H.
    destruct (Engine.accumulate _ _ _ _ _) as [gs1|]; [|discriminate].
    apply IH in H. pose proof (bounded_nth tp bs k e w Hb E). rewrite sum_firstn_S. lia.
Qed.

(** Every entry is visited once, and the accumulations are at most the sum of
    what the entries may emit. *)
Theorem reverse_cost tp bs seed gs v n : bounded tp bs ->
  loop_counted tp (length tp) seed = Some (gs, v, n) ->
  v = length tp /\ n <= list_sum bs.
Proof.
  intros Hb H. destruct (loop_count_bound tp bs Hb _ _ _ _ _ _ _ H) as [H1 H2].
  assert (L : length tp = length bs) by (clear -Hb; induction Hb; simpl; auto).
  rewrite L, firstn_all in H2. simpl in *. lia.
Qed.

Lemma sum_repeat a n : list_sum (repeat a n) = a * n.
Proof. induction n; simpl; [lia|]. fold (list_sum (repeat a n)). lia. Qed.

Lemma bounded_repeat tp a :
  (forall e w, In e tp -> length (backward e w) <= a) -> bounded tp (repeat a (length tp)).
Proof.
  induction tp as [|e tp IH]; intros H; simpl; constructor.
  - intros w. apply H. now left.
  - apply IH. intros e' w Hi. apply H. now right.
Qed.

(** The reverse is linear: one visit per entry, and at most [a] accumulations per
    entry when no entry emits more than [a] contributions. *)
Theorem reverse_linear tp a seed gs v n :
  (forall e w, In e tp -> length (backward e w) <= a) ->
  loop_counted tp (length tp) seed = Some (gs, v, n) ->
  v = length tp /\ n <= a * length tp.
Proof.
  intros Ha H. rewrite <- sum_repeat. eapply reverse_cost; eauto. now apply bounded_repeat.
Qed.

(** Inputs emit nothing, so on a compiled tape only the graph is paid for. *)
Lemma bounded_compile (g : graph X T W) bs : Forall2 (fun nd b => forall xs w, length (vjp nd xs w) <= b) g bs ->
  forall tp bs0, bounded tp bs0 -> bounded (fold_left (record X T W) g tp) (bs0 ++ bs).
Proof.
  induction 1 as [|nd b g bs Hb H IH]; intros tp bs0 H0; simpl.
  - now rewrite app_nil_r.
  - replace (bs0 ++ b :: bs) with ((bs0 ++ [b]) ++ bs) by now rewrite <- app_assoc.
    apply IH. unfold record. apply Forall2_app; auto. constructor; [|constructor].
    intros w. apply Hb.
Qed.

Lemma bounded_leaves xs : bounded (map (leaf X W) xs) (repeat 0 (length xs)).
Proof. induction xs; simpl; constructor; auto. Qed.

(** The cost of a compiled graph, node by node. *)
Theorem compiled_cost xs (g : graph X T W) bs seed gs v n :
  Forall2 (fun nd b => forall xs w, length (vjp nd xs w) <= b) g bs ->
  loop_counted (compile X T W xs g) (length xs + length g) seed = Some (gs, v, n) ->
  v = length xs + length g /\ n <= list_sum bs.
Proof.
  intros Hb H. rewrite <- (compile_length X T W xs g) in H |- *.
  destruct (reverse_cost _ (repeat 0 (length xs) ++ bs) _ _ _ _
    (bounded_compile g bs Hb _ _ (bounded_leaves xs)) H) as [H1 H2].
  split; auto. rewrite list_sum_app, sum_repeat in H2. lia.
Qed.

(** ** Memory *)

(** Every array of cotangents the sweep goes through, the seed first. *)
Fixpoint sweep_arrays (tp : tape) (k : nat) (gs : list W) : list (list W) :=
  gs :: match k with
        | O => []
        | S k' => match step X W wadd tp k' gs with Some gs' => sweep_arrays tp k' gs' | None => [] end
        end.

Lemma accumulate_length id cs : forall gs gs',
  accumulate id cs gs = Some gs' -> length gs' = length gs.
Proof.
  induction cs as [|[p c] cs IH]; intros gs gs' H; simpl in H; [congruence|].
  destruct (p <? id); [|discriminate]. rewrite (IH _ _ H). apply upd_length.
Qed.

Lemma step_length tp id gs gs' : step X W wadd tp id gs = Some gs' -> length gs' = length gs.
Proof.
  unfold step. destruct (nth_error tp id); [|discriminate]. destruct (nth_error gs id); [|discriminate].
  apply accumulate_length.
Qed.

Lemma sweep_arrays_length tp : forall k gs,
  Forall (fun a => length a = length gs) (sweep_arrays tp k gs).
Proof.
  induction k as [|k IH]; intros gs; simpl; constructor; auto.
  destruct (step X W wadd tp k gs) as [gs'|] eqn:E; auto.
  rewrite <- (step_length _ _ _ _ E). apply IH.
Qed.

Lemma sweep_arrays_last tp : forall k gs gs' d,
  loop tp k gs = Some gs' -> last (sweep_arrays tp k gs) d = gs'.
Proof.
  induction k as [|k IH]; intros gs gs' d H; simpl in *; [congruence|].
  destruct (step X W wadd tp k gs) as [gs1|] eqn:E; [|discriminate].
  rewrite <- (IH _ _ d H). destruct k; reflexivity.
Qed.

(** The tape of a graph has one entry per input and node, and the sweep holds
    exactly one cotangent per entry from the seed to the result. *)
Theorem sweep_memory xs (g : graph X T W) seed gs :
  let tp := compile X T W xs g in
  length seed = length xs + length g -> loop tp (length tp) seed = Some gs ->
  length tp = length xs + length g /\
  Forall (fun a => length a = length xs + length g) (sweep_arrays tp (length tp) seed) /\
  last (sweep_arrays tp (length tp) seed) [] = gs.
Proof.
  intros tp Hs H. split; [apply compile_length|]. split.
  - rewrite <- Hs. apply sweep_arrays_length.
  - now apply sweep_arrays_last.
Qed.

End Cost.

(** ** Scalar programs: the bound is the arity *)

Section ScalarCost.
Variables (K : Type) (k0 : K) (kadd kmul : K -> K -> K).

Definition greatest (p : prog K) : nat := list_max (map (fun i => length (i_args i)) p).

Lemma sum_le_max l : list_sum l <= list_max l * length l.
Proof.
  induction l as [|a l IH]; simpl; [lia|].
  fold (list_sum l) (list_max l). pose proof (Nat.le_max_l a (list_max l)).
  pose proof (Nat.le_max_r a (list_max l)). nia.
Qed.

(** The reverse of a scalar program visits each input and instruction once; its
    accumulations are at most the number of operands in the program, so at most
    the greatest arity times the number of instructions. *)
Theorem scalar_reverse_linear xs p seed gs v n :
  loop_counted K K kadd (compile K K K xs (graph_of K k0 kadd kmul p))
    (length xs + length p) seed = Some (gs, v, n) ->
  v = length xs + length p /\
  n <= list_sum (map (fun i => length (i_args i)) p) /\ n <= greatest p * length p.
Proof.
  intros H. rewrite <- (graph_of_length K k0 kadd kmul p) in H at 1.
  apply compiled_cost with (bs := map (fun i => length (i_args i)) p) in H.
  - rewrite graph_of_length in H. destruct H as [H1 H2]. repeat split; auto.
    pose proof (sum_le_max (map (fun i => length (i_args i)) p)) as M.
    rewrite map_length in M. unfold greatest. lia.
  - unfold graph_of. clear. induction p as [|i p IH]; simpl; constructor; auto.
    intros xs w. simpl. rewrite combine_length. lia.
Qed.
End ScalarCost.

(** ** Checkpoint plans *)

(** Even segments redo less than one further forward pass (all but the last
    segment), and hold [s + c] states for [(s + 1) * c] trips. *)
Theorem even_cost s c :
  redone (even s c) + c = trips (even s c) /\
  redone (even s c) <= trips (even s c) /\ peak (even s c) = s + c.
Proof. rewrite even_redone, even_trips, even_peak. lia. Qed.

(** Reversing in even segments runs at most two forward passes. *)
Theorem even_two_passes (X W : Type) (f : nat -> X -> X) (bf : nat -> X -> W -> W) s c k x w :
  snd (replay_counted X W f bf (even s c) k x w) <= 2 * trips (even s c).
Proof. rewrite replay_cost. simpl. pose proof (even_cost s c). lia. Qed.
