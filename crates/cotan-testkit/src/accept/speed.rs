//! Lines of speed: gradients beside marks and other tools, loops that follow their data, threads.
//!
//! One run of `cotan-bench all --marks` on one thread serves all lines that compare with marks.

use super::command::{cotan, json, number, output};
use super::suites::{count, tests};
use super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::Command;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "gradients of the 19 cases against the best tool that differentiates, on one thread",
        bar: "every case faster",
        measure: every_tool,
    },
    Line {
        title: "the same in the geometric mean",
        bar: "at least 2.0 times as fast",
        measure: |place| mean_of_tools(place, 2.0),
    },
    Line {
        title: "the same in the geometric mean, the aim",
        bar: "at least 2.5 times as fast",
        measure: |place| mean_of_tools(place, 2.5),
    },
    Line {
        title: "gradients against the marks, hand-written code, outside of Hand",
        bar: "at most 1.5 times the mark in every case",
        measure: every_mark,
    },
    Line {
        title: "the same in the geometric mean of all cases",
        bar: "at most 1.25 times the marks",
        measure: mean_of_marks,
    },
    Line { title: "gradients of Hand against the bar", bar: "every case faster than the best tool", measure: hand },
    Line {
        title: "scalar objectives: gradient / the faster of our objective and the hand-written one",
        bar: "at most 3.0 in the geometric mean of gmm, lstm, mass_spring, ode_rk4 and newton",
        measure: scalar_objectives,
    },
    Line {
        title: "loops like newton's against the hand-written loop with masks",
        bar: "objective and gradient at most 1.5 times",
        measure: masked_loops,
    },
    Line {
        title: "the cost of loops of 8 and of 64 trips under bounds of 100 and of 1,000,000,000 trips (tests/speed)",
        bar: "8 times the trips in at most 9 times the time; the bound changes at most 10 %",
        measure: trips,
    },
    Line {
        title: "two threads against two copies on one thread that are started together",
        bar: "at least 0.9 times the gain of the copies",
        measure: two_threads,
    },
    Line { title: "values and derivative entries on 1 to 8 threads", bar: "the same bits", measure: bits_of_threads },
    Line {
        title: "values and derivative entries at 1, 4, 8 and 16 lanes",
        bar: "the same bits",
        measure: bits_of_lanes,
    },
    Line {
        title: "every program under tests/run, with all optimisations and with none",
        bar: "the tests pass",
        measure: every_program,
    },
];

/// What `cotan-bench all --marks` prints: an object for each case.
fn cases(place: &Workplace) -> Result<&[Json], String> {
    let run = || {
        let mut command = bench(place);
        command.args(["--threads", "1", "--json", "--no-peers", "all", "--marks", "--data"]).arg(&place.adbench);
        let text = String::from_utf8(output(&mut command)?.stdout).map_err(|e| e.to_string())?;
        text.lines().map(|line| serde_json::from_str(line).map_err(|e| e.to_string())).collect()
    };
    place.cases.get_or_init(run).as_deref().map_err(Clone::clone)
}

fn bench(place: &Workplace) -> Command {
    Command::new(place.built.join("cotan-bench"))
}

fn text<'a>(of: &'a Json, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

/// A figure of each case, under the name of the case.
type Figures = Vec<(String, f64)>;

fn figures(
    place: &Workplace,
    is_wanted: impl Fn(&str) -> bool,
    figure: impl Fn(&Json) -> Result<f64, String>,
) -> Result<Figures, String> {
    let wanted = cases(place)?.iter().filter(|case| is_wanted(text(case, "objective")));
    let named = |case| Ok((format!("{} {}", text(case, "objective"), text(case, "instance")), figure(case)?));
    let figures: Figures = wanted.map(named).collect::<Result<_, String>>()?;
    if figures.is_empty() { Err("there are no such cases".to_owned()) } else { Ok(figures) }
}

fn mean(figures: &Figures) -> f64 {
    f64::exp(figures.iter().map(|(_, x)| x.ln()).sum::<f64>() / figures.len() as f64)
}

/// The number of cases that hold, and those that do not, with their figures.
fn all_hold(figures: &Figures, holds: impl Fn(f64) -> bool) -> Measured {
    let failing: Vec<String> =
        figures.iter().filter(|(_, x)| !holds(*x)).map(|(name, x)| format!("{name} {x:.2}")).collect();
    let n = figures.len();
    let text = match failing.as_slice() {
        [] => format!("all {n}"),
        some => format!("{} of {n}; not {}", n - some.len(), some.join(", ")),
    };
    Measured::new(failing.is_empty(), text)
}

fn is_hand(objective: &str) -> bool {
    objective.starts_with("hand")
}

fn every_tool(place: &Workplace) -> Result<Measured, String> {
    let found = figures(place, |_| true, |case| number(case, "faster"))?;
    let Measured { text, holds } = all_hold(&found, |x| x > 1.0);
    Ok(Measured::new(holds && found.len() == 19, text))
}

fn mean_of_tools(place: &Workplace, least: f64) -> Result<Measured, String> {
    let faster = mean(&figures(place, |_| true, |case| number(case, "faster"))?);
    Ok(Measured::new(faster >= least, format!("{faster:.2} times as fast")))
}

fn every_mark(place: &Workplace) -> Result<Measured, String> {
    let found = figures(place, |objective| !is_hand(objective), |case| number(case, "to_mark"))?;
    Ok(all_hold(&found, |x| x <= 1.5))
}

fn mean_of_marks(place: &Workplace) -> Result<Measured, String> {
    let to_mark = mean(&figures(place, |_| true, |case| number(case, "to_mark"))?);
    Ok(Measured::new(to_mark <= 1.25, format!("{to_mark:.2} times the marks")))
}

fn hand(place: &Workplace) -> Result<Measured, String> {
    Ok(all_hold(&figures(place, is_hand, |case| number(case, "faster"))?, |x| x > 1.0))
}

fn scalar_objectives(place: &Workplace) -> Result<Measured, String> {
    let is_scalar = |objective: &str| ["gmm", "lstm", "mass_spring", "ode_rk4", "newton"].contains(&objective);
    let ratio = |case: &Json| {
        let objective = number(case, "obj_min")?.min(number(case, "mark_objective")?);
        Ok(number(case, "grad_min")? / objective)
    };
    let found = figures(place, is_scalar, ratio)?;
    let each: Vec<String> = found.iter().map(|(name, x)| format!("{name} {x:.1}")).collect();
    let mean = mean(&found);
    Ok(Measured::new(mean <= 3.0, format!("{mean:.2}; {}", each.join(", "))))
}

fn masked_loops(place: &Workplace) -> Result<Measured, String> {
    let is_newton = |objective: &str| objective == "newton";
    let objective = |case: &Json| Ok(number(case, "obj_min")? / number(case, "mark_objective")?);
    let objective = mean(&figures(place, is_newton, objective)?);
    let gradient = mean(&figures(place, is_newton, |case| number(case, "to_mark"))?);
    let text = format!("objective {objective:.2}, gradient {gradient:.2}");
    Ok(Measured::new(objective <= 1.5 && gradient <= 1.5, text))
}

fn trips(place: &Workplace) -> Result<Measured, String> {
    let run = |length: &str, bound: &str| {
        let mut command = cotan(place);
        command.current_dir(place.root.join("tests/speed"));
        command.args(["bench", "trips.cot", "--fn", "settled", "--grad", "s", "--threads", "1", "--json"]);
        json(&output(command.args(["--set", "s=0.01", "--set", "n=20000", "--set", length, "--set", bound]))?)
    };
    let few = run("length=8.5", "bound=100")?;
    let (many, unbounded) = (run("length=64.5", "bound=100")?, run("length=64.5", "bound=1000000000")?);
    let mut holds = true;
    let mut parts = Vec::new();
    for (name, key) in [("objective", "obj_min"), ("gradient", "grad_min")] {
        let (few, many, unbounded) = (number(&few, key)?, number(&many, key)?, number(&unbounded, key)?);
        let (growth, change) = (many / few, unbounded / many);
        holds &= growth <= 9.0 && (change - 1.0).abs() <= 0.1;
        parts
            .push(format!("{name}: {growth:.1} times for 8 times the trips, {change:.2} times under the larger bound"));
    }
    Ok(Measured::new(holds, parts.join("; ")))
}

/// What `cotan-bench threads` prints: an object for each case.
fn two_threads(place: &Workplace) -> Result<Measured, String> {
    let mut command = bench(place);
    let out = output(command.args(["--json", "threads", "--data"]).arg(&place.adbench))?;
    let text = String::from_utf8(out.stdout).map_err(|e| e.to_string())?;
    let mut shares = Figures::new();
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).map_err(|e| e.to_string())?;
        // The gain of two threads is `one / two`, that of two copies `2 one / beside_a_copy`.
        let share = number(&case, "beside_a_copy_s")? / (2.0 * number(&case, "two_s")?);
        shares.push((format!("{} {}", self::text(&case, "objective"), self::text(&case, "instance")), share));
    }
    let each: Vec<String> = shares.iter().map(|(name, share)| format!("{name} {share:.2}")).collect();
    Ok(Measured::new(!shares.is_empty() && shares.iter().all(|(_, share)| *share >= 0.9), each.join(", ")))
}

/// Instances of which each has a loop with lanes that is long enough for threads.
const LARGE: [&[&str]; 6] = [
    &["adbench", "gmm/10k/gmm_d10_K25.txt"],
    &["adbench", "ba/ba4_n372_m47423_p204472.txt"],
    &["adbench", "lstm/lstm_l2_c1024.txt"],
    &["adbench", "hand/simple_small/hand5_t26_c800.txt"],
    &["adbench", "hand/complicated_small/hand5_t26_c800.txt"],
    &["loops", "newton"],
];

fn bits_of_threads(place: &Workplace) -> Result<Measured, String> {
    let threads: Vec<Vec<String>> = (1..=8).map(|n| vec![format!("--threads={n}")]).collect();
    let differing = differing(place, &threads)?;
    let text = format!("{} instances, 1 to 8 threads; differing: [{}]", LARGE.len(), differing.join(", "));
    Ok(Measured::new(differing.is_empty(), text))
}

fn bits_of_lanes(place: &Workplace) -> Result<Measured, String> {
    let on_one_thread = || vec!["--threads=1".to_owned()];
    let widths = [1, 4, 8, 16].map(|width| [on_one_thread(), vec![format!("--width={width}")]].concat());
    let differing = differing(place, &[&[on_one_thread()], &widths[..]].concat())?;
    let text =
        format!("{} instances, by default and at 1, 4, 8 and 16; differing: [{}]", LARGE.len(), differing.join(", "));
    Ok(Measured::new(differing.is_empty(), text))
}

/// The instances and options that give other values or derivative entries than the first options do.
fn differing(place: &Workplace, options: &[Vec<String>]) -> Result<Vec<String>, String> {
    let entries = std::env::temp_dir().join(format!("cotan-accept-{}.npy", std::process::id()));
    let mut differing = Vec::new();
    for instance in LARGE {
        let mut first = None;
        for options in options {
            let mut command = bench(place);
            if place.adbench.is_dir() {
                command.current_dir(&place.adbench);
            }
            command.args(["--budget", "0", "--json"]).args(options).arg("--out").arg(&entries);
            let value = json(&output(command.args(instance))?)?["value"].clone();
            let found = (value, std::fs::read(&entries).map_err(|e| e.to_string())?);
            if first.get_or_insert_with(|| found.clone()) != &found {
                differing.push(format!("{} with {}", instance.join(" "), options.join(" ")));
            }
        }
    }
    // Nobody needs the file any more, and the folder is one for such files.
    let _ = std::fs::remove_file(&entries);
    Ok(differing)
}

fn every_program(place: &Workplace) -> Result<Measured, String> {
    let result = tests(place, "cotan-testkit", &["--test", "all", "run::"], "")?;
    Ok(Measured::new(true, format!("{} programs, each optimised and not; {result}", count("tests/run"))))
}
