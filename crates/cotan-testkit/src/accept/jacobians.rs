//! The ADBench objectives whose derivative is a Jacobian: bundle adjustment and hand tracking.
//!
//! For some instances the reference is the whole vector of entries. For the others it is a digest (the first and the
//! last entries, sum, norm, largest magnitude); there each block is compared with extrapolated differences too.

use super::adbench::larger;
use super::{Line, Measured, Workplace};
use cotan::host::{Arguments, Budget, HostValue, read_npy};
use cotan::{Compiler, Config, Engine, Function, Request};
use cotan_bench::{BlockError, HandModel, Instance, Objective, compare_blocks, evaluate, read_adbench};
use cotan_ops::Value;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

pub(super) const LINES: &[Line] = &[Line {
    title: "BA and Hand, simple and complicated, every instance, compiled",
    bar: "at most 1e-9 per block",
    measure: every_instance,
}];

const BAR: f64 = 1e-9;

const INSTANCES: [(Objective, &str, &str); 8] = [
    (Objective::Ba, "ba/ba1_n49_m7776_p31843.txt", "ba/ba1_n49"),
    (Objective::Ba, "ba/ba4_n372_m47423_p204472.txt", "ba/ba4_n372"),
    (Objective::Ba, "ba/ba10_n1197_m126327_p563734.txt", "ba/ba10_n1197"),
    (Objective::Hand, "hand/simple_small/hand1_t26_c100.txt", "hand/simple_small_1_c100"),
    (Objective::Hand, "hand/simple_small/hand5_t26_c800.txt", "hand/simple_small_5_c800"),
    (Objective::Hand, "hand/simple_big/hand4_t26_c400.txt", "hand/simple_big_4_c400"),
    (Objective::HandComplicated, "hand/complicated_small/hand1_t26_c100.txt", "hand_c/complicated_small_1_c100"),
    (Objective::HandComplicated, "hand/complicated_small/hand5_t26_c800.txt", "hand_c/complicated_small_5_c800"),
];

fn every_instance(place: &Workplace) -> Result<Measured, String> {
    let compiler = Compiler::new(Config::default())?;
    let references: Json =
        serde_json::from_str(&read(&place.adbench.join("reference/reference.json"))?).map_err(|e| e.to_string())?;
    let (mut worst, mut worst_value, mut worst_digest): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let mut by_differences = 0;
    for (objective, file, name) in INSTANCES {
        let instance = read_instance(objective, &place.adbench.join(file), name)?;
        let (value, entries) = evaluate(&compiler, &instance, Engine::CPU).map_err(|e| format!("{name}: {e:#}"))?;
        let reference = &references[name];
        let expected = reference["value"].as_f64().ok_or("no reference value")?;
        worst_value = larger(worst_value, ((value - expected) / expected).abs());
        worst_digest = larger(worst_digest, digest_error(&entries, reference)?);
        let npy = place.adbench.join(format!("reference/{}.npy", name.replace('/', "_")));
        let expected = if npy.exists() {
            let bytes = fs::read(&npy).map_err(|e| format!("{name}: {e}"))?;
            read_npy(&bytes, &mut Budget::default()).map_err(|e| format!("{name}: {e}"))?.floats()
        } else {
            by_differences += 1;
            differences(&compiler, objective, &instance).map_err(|e| format!("{name}: {e}"))?
        };
        let errors = compare_blocks(&entries, &expected, &instance.blocks).ok_or("numbers of entries differ")?;
        worst = errors.into_iter().map(BlockError::relative).fold(worst, larger);
    }
    let text = format!(
        "{} instances, worst block {worst:.1e} ({by_differences} instances by differences), worst value \
         {worst_value:.1e}, worst digest {worst_digest:.1e}",
        INSTANCES.len()
    );
    Ok(Measured::new([worst, worst_value, worst_digest].iter().all(|e| *e <= BAR), text))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn read_instance(objective: Objective, path: &Path, name: &str) -> Result<Instance, String> {
    let model = match objective.needs_model() {
        true => {
            let folder = path.with_file_name("model");
            let text = |file: &str| read(&folder.join(file));
            let model = HandModel::read(&text("bones.txt")?, &text("vertices.txt")?, &text("triangles.txt")?);
            Some(model.map_err(|e| format!("{e:#}"))?)
        }
        false => None,
    };
    read_adbench(objective, name, &read(path)?, model.as_ref()).map_err(|e| format!("{name}: {e:#}"))
}

/// The largest error of the figures that the reference has for every instance, each relative to its own magnitude but
/// for single entries, which are relative to the largest one.
fn digest_error(entries: &[f64], reference: &Json) -> Result<f64, String> {
    let number = |key: &str| reference[key].as_f64().ok_or_else(|| format!("the reference has no `{key}`"));
    let list = |key: &str| -> Result<Vec<f64>, String> {
        let list = reference[key].as_array().ok_or_else(|| format!("the reference has no `{key}`"))?;
        Ok(list.iter().filter_map(Json::as_f64).collect())
    };
    if entries.len() as f64 != number("entries")? {
        return Err(format!("expected {} entries, found {}", number("entries")?, entries.len()));
    }
    let (largest, norm) = (number("max_abs")?, number("norm2")?);
    let found_norm = entries.iter().map(|x| x * x).sum::<f64>().sqrt();
    let found_largest = entries.iter().map(|x| x.abs()).fold(0.0, larger);
    let mut worst = larger((found_norm - norm).abs() / norm, (found_largest - largest).abs() / largest);
    // A sum of so many entries rounds like their absolute sum, which the norm bounds.
    let magnitude = norm * (entries.len() as f64).sqrt();
    worst = larger(worst, (entries.iter().sum::<f64>() - number("sum")?).abs() / magnitude);
    let (first, last) = (list("first")?, list("last")?);
    let tail = &entries[entries.len().saturating_sub(last.len())..];
    for (found, expected) in entries.iter().zip(&first).chain(tail.iter().zip(&last)) {
        worst = larger(worst, (found - expected).abs() / largest);
    }
    Ok(worst)
}

/// Every entry by differences of the residuals.
fn differences(compiler: &Compiler, objective: Objective, instance: &Instance) -> Result<Vec<f64>, String> {
    let program = compiler.check(&instance.file, &instance.source);
    let residuals =
        |name: &str| compiler.function(&program, &Request::function(name), Engine::CPU).map_err(|e| e.to_string());
    let columns = |f: &Function, args: &Arguments, of: &[(&str, usize)]| -> Result<Vec<Vec<f64>>, String> {
        let all = of.iter().flat_map(|(param, stride)| (0..*stride).map(move |column| (*param, column, *stride)));
        all.map(|(param, column, stride)| derivative(f, args, param, column, stride)).collect()
    };
    match objective {
        Objective::Ba => {
            let n = instance.args["weights"].floats().len();
            let args = one_observation(&instance.args);
            let of = [("camera", 11), ("point", 3), ("weight", 1)];
            let columns = columns(&residuals("reprojection_error")?, &args, &of)?;
            let block: Vec<f64> = (0..2).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
            let weight = derivative(&residuals("weight_error")?, &args, "weight", 0, 1)?;
            Ok([block.repeat(n), weight.repeat(n)].concat())
        }
        Objective::Hand => Ok(columns(&residuals("hand_residuals")?, &instance.args, &[("theta", 26)])?.concat()),
        Objective::HandComplicated => {
            let of = [("u", 2), ("theta", 26)];
            Ok(columns(&residuals("hand_c_residuals")?, &instance.args, &of)?.concat())
        }
        Objective::Gmm | Objective::Lstm => Err("expected an objective with a Jacobian".to_owned()),
    }
}

/// The arguments of one residual: all observations of an instance see the same camera and the same point.
fn one_observation(args: &Arguments) -> Arguments {
    let first = |name: &str, n: usize| args[name].floats()[..n].to_vec();
    Arguments::from([
        ("camera".to_owned(), HostValue::f64s(&[11], &first("cameras", 11))),
        ("point".to_owned(), HostValue::f64s(&[3], &first("points", 3))),
        ("weight".to_owned(), HostValue::f64(first("weights", 1)[0])),
        ("feature".to_owned(), HostValue::f64s(&[2], &first("features", 2))),
    ])
}

/// How the residuals change with every `stride`-th element of a parameter, from element `column` on, all moved at once:
/// central differences, extrapolated three times.
fn derivative(f: &Function, args: &Arguments, param: &str, column: usize, stride: usize) -> Result<Vec<f64>, String> {
    const LEVELS: usize = 4;
    let x = args[param].floats();
    let step = 0.01 * x.iter().skip(column).step_by(stride).fold(1.0, |m: f64, x| m.max(x.abs()));
    let at = |shift: f64| -> Result<Vec<f64>, String> {
        let mut moved = args.clone();
        let mut elements = x.clone();
        elements.iter_mut().skip(column).step_by(stride).for_each(|x| *x += shift);
        let value = if let HostValue::Tensor(Value { dims, .. }) = &args[param] {
            HostValue::f64s(dims, &elements)
        } else {
            HostValue::f64(elements[0])
        };
        moved.insert(param.to_owned(), value);
        let taken: Arguments =
            f.entry().signature.params.iter().filter_map(|p| moved.get_key_value(&p.name)).map(owned).collect();
        Ok(f.call(&taken).map_err(|e| e.to_string())?.floats())
    };
    let mut table: Vec<Vec<f64>> = Vec::new();
    for level in 0..LEVELS {
        let h = step / f64::from(1u32 << level);
        let (above, below) = (at(h)?, at(-h)?);
        table.push(above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * h)).collect());
    }
    for order in 1..LEVELS {
        let factor = f64::from(1u32 << (2 * order));
        for level in (order..LEVELS).rev() {
            let (coarse, fine) = table.split_at_mut(level);
            let pairs = fine[0].iter_mut().zip(&coarse[level - 1]);
            pairs.for_each(|(fine, coarse)| *fine = (factor * *fine - coarse) / (factor - 1.0));
        }
    }
    table.pop().ok_or_else(|| "no differences".to_owned())
}

fn owned((name, value): (&String, &HostValue)) -> (String, HostValue) {
    (name.clone(), value.clone())
}
