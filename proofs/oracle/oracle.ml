(* The executable of the model.  `oracle tape` reads tapes over the integers modulo 2^61 - 1 and prints what the model
   computes; `oracle certify` reads certificates and prints a verdict on each.  Both read lines of words from the
   standard input; a case ends with `end` and is answered by lines of its own.

   A tape: `in V..` the values of the inputs, then one line for each node, `leaf V`, `use RULE ARGS.. / OTHERS..`,
   `max ARGS..`, `min ARGS..`; `seed ID V` as often as needed.  The answer: `values V..`, `cotangents V..`, or
   `refused WHY`.

   A certificate: `inputs N`, then the program, `use RULE ARGS.. / OTHERS..` of proved rules, `constant N D`, and
   `choice RELATION A B YES NO`; the gradient code, `code TERM`; `unfold ID..`, lines of code that are to be unfolded
   although they hold cotangents; `places ID..`, where the cotangent of each value is; `output ID`.  The answer:
   `accepted`, `not shown: value ID`, or `refused WHY`. *)

module Big = Z (* Zarith, before the model brings a Z of its own *)

let modulus = Big.pred (Big.shift_left Big.one 61)
let rules =
  let names = Hashtbl.create 97 in
  List.iter (fun r -> Hashtbl.replace names (Model.r_name r) r) Model.rules;
  names

exception Bad of string
let bad line = raise (Bad line)
let rule_of name = match Hashtbl.find_opt rules name with Some r -> r | None -> bad ("no rule is called " ^ name)

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
        add (Model.zuse modulus (rule_of name) (ids args) (numbers others))
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

(* Terms as the proofs write them. *)
type tree = Leaf of string | Node of tree list

let tree_of text =
  let spaced = String.concat " ) " (String.split_on_char ')' (String.concat " ( " (String.split_on_char '(' text))) in
  let rec one = function
    | "(" :: rest -> let inner, rest = many rest in (Node inner, rest)
    | ")" :: _ | [] -> bad "a term ends too early"
    | w :: rest -> (Leaf w, rest)
  and many = function
    | ")" :: rest -> ([], rest)
    | rest -> let first, rest = one rest in let others, rest = many rest in (first :: others, rest)
  in
  match one (words spaced) with tree, [] -> tree | _ -> bad "a term has two parts"

let rec number = function
  | Leaf w -> Big.of_string w
  | Node [ inner ] -> number inner
  | Node _ -> bad "a number is asked for"

let function_of = function
  | "Exp" -> Model.Exp | "Ln" -> Model.Ln | "Sqrt" -> Model.Sqrt | "Sin" -> Model.Sin | "Cos" -> Model.Cos
  | "Tan" -> Model.Tan | "Asin" -> Model.Asin | "Acos" -> Model.Acos | "Atan" -> Model.Atan | "Sinh" -> Model.Sinh
  | "Cosh" -> Model.Cosh | "Tanh" -> Model.Tanh | "Erf" -> Model.Erf | "Floor" -> Model.Floor
  | other -> bad ("no function is called " ^ other)

let relation_of = function
  | "Less" -> Model.Less | "AtMost" -> Model.AtMost | "Same" -> Model.Same
  | other -> bad ("no relation is called " ^ other)

let whole_of = function
  | Node [ Leaf "Lit"; n ] -> Model.Lit (number n)
  | _ -> bad "a whole number is asked for"

let rec term_of = function
  | Node [ Leaf "X"; Leaf i ] -> Model.X (int_of_string i)
  | Node [ Leaf "Q"; n; d ] -> Model.Q (number n, number d)
  | Node [ Leaf "Named"; n; d; t ] -> Model.Named (number n, number d, term_of t)
  | Leaf "Undefined" -> Model.Undefined
  | Node [ Leaf "OfWhole"; n ] -> Model.OfWhole (whole_of n)
  | Node [ Leaf "Fn"; Leaf f; a ] -> Model.Fn (function_of f, term_of a)
  | Node [ Leaf "Neg"; a ] -> Model.Neg (term_of a)
  | Node [ Leaf "Add"; a; b ] -> Model.Add (term_of a, term_of b)
  | Node [ Leaf "Sub"; a; b ] -> Model.Sub (term_of a, term_of b)
  | Node [ Leaf "Mul"; a; b ] -> Model.Mul (term_of a, term_of b)
  | Node [ Leaf "Div"; a; b ] -> Model.Div (term_of a, term_of b)
  | Node [ Leaf "PowZ"; a; n ] -> Model.PowZ (term_of a, whole_of n)
  | Node [ Leaf "Pow"; a; b ] -> Model.Pow (term_of a, term_of b)
  | Node [ Leaf "Gamma"; a; n ] -> Model.Gamma (term_of a, whole_of n)
  | Node [ Leaf "If"; Leaf r; a; b; t; e ] -> Model.If (relation_of r, term_of a, term_of b, term_of t, term_of e)
  | _ -> bad "no such term"

let certificate lines =
  let inputs = ref 0 and prog = ref [] and code = ref [] and unfold = ref [] and places = ref [] and output = ref 0 in
  let add step = prog := step :: !prog in
  let read = function
    | [ "inputs"; n ] -> inputs := int_of_string n
    | [ "constant"; n; d ] -> add (Model.Number (Big.of_string n, Big.of_string d))
    | "choice" :: relation :: args -> add (Model.Chooses (relation_of relation, ids args))
    | "use" :: name :: rest ->
        let args, others = split rest in
        add (Model.Uses (name, ids args, numbers others))
    | "code" :: term -> code := term_of (tree_of (String.concat " " term)) :: !code
    | "unfold" :: rest -> unfold := ids rest
    | "places" :: rest -> places := ids rest
    | [ "output"; id ] -> output := int_of_string id
    | w -> bad (String.concat " " w)
  in
  List.iter read lines;
  let steps = List.rev !prog and lines = List.rev !code in
  if Model.accepted !inputs steps lines !unfold !places !output then print_endline "accepted"
  else
    match Model.first_unshown !inputs steps lines !unfold !places !output with
    | Some value -> Printf.printf "not shown: value %d\n" value
    | None -> bad "the certificate is not well-formed"

let () =
  match Sys.argv with
  | [| _; "tape" |] -> each_case tape
  | [| _; "certify" |] -> each_case certificate
  | _ ->
      prerr_endline "usage: oracle tape|certify";
      exit 2
