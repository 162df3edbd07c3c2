(* The executable of the model.  `oracle tape` reads tapes over the integers modulo 2^61 - 1 and prints what the model
   computes; `oracle certify` reads certificates and prints a verdict on each.  Both read lines of words from the
   standard input; a case ends with `end` and is answered by lines of its own.

   A tape: `in V..` the values of the inputs, then one line for each node, `leaf V`, `use RULE ARGS.. / OTHERS..`,
   `max ARGS..`, `min ARGS..`; `seed ID V` as often as needed.  The answer: `values V..`, `cotangents V..`, or
   `refused WHY`.

   A certificate: `inputs N`, then the program, `use RULE ARGS.. / OTHERS..`; the gradient code, `code TERM`; `places
   ID..`, where the cotangent of each value is; `output ID`.  The answer: `accepted` or `not shown`. *)

module Big = Z (* Zarith, before the model brings a Z of its own *)

let modulus = Big.pred (Big.shift_left Big.one 61)
let table rules =
  let names = Hashtbl.create 97 in
  List.iter (fun r -> Hashtbl.replace names (Model.r_name r) r) rules;
  names
let all = table Model.rules
let proved = table Model.proved_rules

exception Bad of string
let bad line = raise (Bad line)
let rule_of names name =
  match Hashtbl.find_opt names name with Some r -> r | None -> bad ("no rule is called " ^ name)

let words line = List.filter (( <> ) "") (String.split_on_char ' ' line)
let rec split = function
  | "/" :: others -> ([], others)
  | w :: rest -> let args, others = split rest in (w :: args, others)
  | [] -> ([], [])
let ids = List.map int_of_string
let numbers = List.map Big.of_string
let show numbers = String.concat " " (List.map Big.to_string numbers)

(* Calls `case` with the lines of each case. *)
let each_case case =
  let rec go lines =
    match input_line stdin with
    | exception End_of_file -> ()
    | line -> (
        match words line with
        | [ "end" ] ->
            (try case (List.rev lines) with Bad why -> print_endline ("refused " ^ why));
            go []
        | [] -> go lines
        | w -> go (w :: lines))
  in
  go []

let tape lines =
  let inputs = ref [] and nodes = ref [] and seeds = ref [] in
  let add node = nodes := node :: !nodes in
  let read = function
    | "in" :: values -> inputs := numbers values
    | [ "leaf"; v ] -> add (Model.zleaf modulus (Big.of_string v))
    | "use" :: name :: rest ->
        let args, others = split rest in
        add (Model.zuse modulus (rule_of all name) (ids args) (numbers others))
    | "max" :: args -> add (Model.zcontest modulus true (ids args))
    | "min" :: args -> add (Model.zcontest modulus false (ids args))
    | [ "seed"; id; v ] -> seeds := (int_of_string id, Big.of_string v) :: !seeds
    | w -> bad (String.concat " " w)
  in
  List.iter read lines;
  let prog = List.rev !nodes in
  let n = List.length !inputs in
  if not (Model.well_formed modulus n prog) then bad "the tape is not well-formed";
  let seed = Array.make (n + List.length prog) Big.zero in
  List.iter (fun (id, v) -> seed.(id) <- Big.add seed.(id) v) !seeds;
  print_endline ("values " ^ show (Model.values modulus !inputs prog));
  match Model.cotangents modulus !inputs prog (Array.to_list seed) with
  | Some cots -> print_endline ("cotangents " ^ show cots)
  | None -> bad "a contribution goes to no earlier node"

let () =
  match Sys.argv with
  | [| _; "tape" |] -> each_case tape
  | _ ->
      prerr_endline "usage: oracle tape";
      exit 2
