(** * Cost: what the reverse loop does, counted.

    The instrumented loop counts the nodes that it visits and the additions that it
    makes.  It computes what the loop computes; visits are as many as entries, and
    additions are bounded by the greatest number of operands times the entries.  So
    reverse mode costs a constant times the forward run, and holds one cotangent for
    each value. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Tape Scalar Loops.
Import ListNotations.

Section Cost.
Variables (X W : Type) (wadd : W -> W -> W).
Notation tape := (Tape.tape X W).
Notation accumulate := (Tape.accumulate W wadd).
Notation loop := (Tape.loop X W wadd).
Notation upd := (Tape.upd W wadd).

Fixpoint accumulate_counted (id : nat) (cs : contribs W) (gs : list W) (adds : nat) : option (list W * nat) :=
  match cs with
  | [] => Some (gs, adds)
  | (p, c) :: cs' => if p <? id then accumulate_counted id cs' (upd p c gs) (S adds) else None
  end.

(** The loop with counts: cotangents, visits, additions. *)
Fixpoint loop_counted (tp : tape) (k : nat) (gs : list W) (visits adds : nat) : option (list W * nat * nat) :=
  match k with
  | O => Some (gs, visits, adds)
  | S k' =>
      match nth_error tp k', nth_error gs k' with
      | Some e, Some w =>
          match accumulate_counted k' (backward X W e w) gs adds with
          | Some (gs', adds') => loop_counted tp k' gs' (S visits) adds'
          | None => None
          end
      | _, _ => None
      end
  end.

Lemma accumulate_counted_spec id cs : forall gs adds,
  accumulate_counted id cs gs adds = option_map (fun gs' => (gs', adds + length cs)) (accumulate id cs gs).
Proof.
  induction cs as [|[p c] cs IH]; intros gs adds; simpl.
  - now rewrite Nat.add_0_r.
  - destruct (p <? id); auto. rewrite IH. destruct (accumulate id cs (upd p c gs)); simpl; auto.
    do 2 f_equal. lia.
Qed.

(** Counting changes nothing. *)
Theorem counted_same tp k : forall gs visits adds,
  option_map (fun r => fst (fst r)) (loop_counted tp k gs visits adds) = loop tp k gs.
Proof.
  induction k as [|k IH]; intros gs visits adds; simpl; auto.
  unfold step. destruct (nth_error tp k) as [e|]; auto. destruct (nth_error gs k) as [w|]; auto.
  rewrite accumulate_counted_spec. destruct (accumulate k (backward X W e w) gs); simpl; auto.
Qed.

(** Every entry sends at most [a] contributions. *)
Definition sends_at_most (a : nat) (tp : tape) : Prop :=
  forall e, In e tp -> forall w, length (backward X W e w) <= a.

(** One visit for each entry, and at most [a] additions for each. *)
Theorem reverse_linear a tp : sends_at_most a tp -> forall k gs visits adds gs' visits' adds',
  loop_counted tp k gs visits adds = Some (gs', visits', adds') ->
  visits' = visits + k /\ adds' <= adds + a * k.
Proof.
  intros Ha k. induction k as [|k IH]; intros gs visits adds gs' visits' adds' H; simpl in H.
  - injection H as <- <- <-. lia.
  - destruct (nth_error tp k) as [e|] eqn:Ee; [|discriminate].
    destruct (nth_error gs k) as [w|]; [|discriminate].
    rewrite accumulate_counted_spec in H.
    destruct (accumulate k (backward X W e w) gs) as [g|]; simpl in H; [|discriminate].
    destruct (IH _ _ _ _ _ _ H) as [H1 H2].
    pose proof (Ha e (nth_error_In _ _ Ee) w). split; nia.
Qed.

(** The sweep holds exactly one cotangent for each value, from beginning to end. *)
Theorem sweep_memory tp k : forall gs gs', loop tp k gs = Some gs' -> length gs' = length gs.
Proof.
  induction k as [|k IH]; intros gs gs' H; simpl in H; [congruence|].
  unfold step in H. destruct (nth_error tp k) as [e|]; [|discriminate].
  destruct (nth_error gs k) as [w|]; [|discriminate].
  assert (A : forall cs g g', accumulate k cs g = Some g' -> length g' = length g).
  { induction cs as [|[p c] cs IHc]; intros g g' E; simpl in E; [congruence|].
    destruct (p <? k); [|discriminate]. rewrite (IHc _ _ E). apply upd_length. }
  destruct (accumulate k (backward X W e w) gs) as [g|] eqn:E; [|discriminate].
  rewrite (IH _ _ H). now apply A with (backward X W e w).
Qed.
End Cost.

(** ** Scalar programs: the constant is the greatest number of operands *)

Section Scalar.
Variables (K : Type) (k0 k1 : K) (kadd kmul : K -> K -> K).

Definition greatest_arity (p : prog K) : nat := fold_right (fun i a => max (length (i_args i)) a) 0 p.

Lemma tape_sends p : forall tp a,
  sends_at_most K K a tp -> greatest_arity p <= a ->
  sends_at_most K K a (fold_left (record K K K) (graph_of K k0 kadd kmul p) tp).
Proof.
  induction p as [|i p IH]; intros tp a Ht Hp; simpl in *; auto.
  apply IH; [|lia]. unfold record. intros e He w. apply in_app_or in He as [He|[<-|[]]]; auto.
  simpl. rewrite combine_length. lia.
Qed.

(** Reverse mode of a program of [m] operations on [n] inputs visits [n + m] entries and
    makes at most [a (n + m)] additions, where [a] is the greatest number of operands. *)
Theorem scalar_reverse_linear p xs seed gs visits adds :
  loop_counted K K kadd (compile K K K xs (graph_of K k0 kadd kmul p)) (length xs + length p) seed 0 0
    = Some (gs, visits, adds) ->
  visits = length xs + length p /\ adds <= greatest_arity p * (length xs + length p).
Proof.
  intros H. eapply reverse_linear in H; [exact H|].
  unfold compile. apply tape_sends; [|lia].
  intros e He w. apply in_map_iff in He as [x [<- _]]. simpl. lia.
Qed.
End Scalar.

(** ** Checkpoints *)

(** [s] segments of [c] iterations hold [s + c] states and redo at most one forward pass. *)
Theorem even_cost s c : peak (even s c) = s + c /\ redone (even s c) <= trips (even s c).
Proof. split; [apply even_peak|]. rewrite even_redone, even_trips. lia. Qed.
