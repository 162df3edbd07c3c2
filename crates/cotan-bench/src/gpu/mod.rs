//! Kernels of plans beside hand-written shaders (`benches/reference/*.comp`): the same arrays on the same device, compared by value,
//! then timed in turns.

mod cases;
mod shaders;

pub use shaders::Shaders;

use anyhow::{Context, Result, anyhow, bail, ensure};
use cases::Case;
use cotan::resident::{DeviceArguments, DeviceValue};
use cotan::vulkan::Ran;
use cotan::{Compiler, Engine, Function, Request};
use cotan_spirv::vulkan::LoadedForeign;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The names of the cases.
pub const GPU_CASES: [&str; 6] = ["newton", "recurrence", "stencil", "sum", "mass_spring", "scatter"];

/// Samples of each side, at least.
const FEWEST: usize = 20;

/// How far results may be apart, relative to the largest.
const TOLERANCE: f64 = 1e-9;

/// What one case takes, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct GpuFigures {
    /// Its name.
    pub name: String,
    /// The hand-written shader.
    pub by_hand: f64,
    /// Kernels whose fused multiply-adds, quotients and roots are the driver's.
    pub fast: f64,
    /// Kernels with the bits of every other backend.
    pub exact: f64,
    /// The function whose gradient is taken, as fast, where the record of the gradient is in private memory by hand.
    pub function: Option<f64>,
}

impl GpuFigures {
    /// Ours over the hand-written shader.
    pub fn ratio(&self) -> f64 {
        self.fast / self.by_hand
    }

    /// The gradient over the function.
    pub fn gradient_over_function(&self) -> Option<f64> {
        self.function.map(|function| self.fast / function)
    }
}

/// A function with its arguments on a device.
struct Resident {
    function: Function,
    args: DeviceArguments,
}

impl Resident {
    fn new(compiler: &Compiler, case: &Case, request: &Request) -> Result<Resident> {
        let program = compiler.check(&format!("{}.cot", case.name), case.program);
        let function = compiler.function(&program, request, Engine::VULKAN).map_err(|error| anyhow!("{error}"))?;
        let upload = |(name, value): &(&str, cotan::host::HostValue)| {
            Ok(((*name).to_owned(), compiler.upload(value).map_err(|error| anyhow!("{error}"))?))
        };
        let args = case.args.iter().map(upload).collect::<Result<DeviceArguments>>()?;
        Ok(Resident { function, args })
    }

    fn call(&self) -> Result<(DeviceValue, Duration)> {
        let start = Instant::now();
        let found = self.function.call_on_device(&self.args).map_err(|error| anyhow!("{error}"))?;
        let time = start.elapsed();
        match self.function.ran() {
            Some(Ran::OnDevice(_)) => Ok((found, time)),
            Some(Ran::OnHost(why)) => bail!("it ran on the host: {why}"),
            None => bail!("it has not run"),
        }
    }

    /// The floats of the results, those of one after those of the other.
    fn floats(&self) -> Result<Vec<f64>> {
        Ok(self.call()?.0.read().map_err(|error| anyhow!("{error}"))?.floats())
    }
}

/// The program of a case, and the function of it that is compared.
pub fn gpu_program(name: &str) -> Result<(&'static str, Request)> {
    let case = Case::of_name(name)?;
    Ok((case.program, case.request()))
}

/// Measures a case: with a compiler whose numbers are exact, and one whose numbers are the driver's. Both have the same device.
pub fn gpu_figures(
    exact: &Compiler,
    fast: &Compiler,
    shaders: &Shaders,
    name: &str,
    budget: Duration,
) -> Result<GpuFigures> {
    let case = Case::of_name(name)?;
    let request = case.request();
    let ours = [Resident::new(fast, &case, &request)?, Resident::new(exact, &case, &request)?];
    let function = match case.has_record {
        true => Some(Resident::new(fast, &case, &Request::function(case.name))?),
        false => None,
    };
    let device = &fast.device().map_err(|error| anyhow!("{error}"))?.device;
    let mut by_hand = shaders.load(device, &case)?;
    by_hand.run()?;
    let wanted = results(&by_hand, &case)?;
    for ours in &ours {
        compare(&ours.floats()?, &wanted).with_context(|| format!("`{name}` beside the shader"))?;
    }
    let mut least = [Duration::MAX; 4];
    let mut note = |side: usize, time: Duration| least[side] = least[side].min(time);
    let start = Instant::now();
    let mut samples = 0;
    while samples < FEWEST || start.elapsed() < budget {
        let before = Instant::now();
        by_hand.run()?;
        note(0, before.elapsed());
        for (side, ours) in ours.iter().enumerate() {
            note(1 + side, ours.call()?.1);
        }
        if let Some(function) = &function {
            note(3, function.call()?.1);
        }
        samples += 1;
    }
    let [by_hand, fast, exact, of_function] = least.map(|time| 1e3 * time.as_secs_f64());
    Ok(GpuFigures { name: name.to_owned(), by_hand, fast, exact, function: function.map(|_| of_function) })
}

/// What a shader has left.
fn results(by_hand: &LoadedForeign, case: &Case) -> Result<Vec<f64>> {
    let mut floats = Vec::new();
    for array in &case.results {
        floats.extend(by_hand.read(*array)?.into_iter().map(f64::from_bits));
    }
    Ok(floats)
}

fn compare(found: &[f64], wanted: &[f64]) -> Result<()> {
    ensure!(found.len() == wanted.len(), "{} results beside {}", found.len(), wanted.len());
    let largest = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let is_near = (found - wanted).abs() <= TOLERANCE * largest;
        ensure!(is_near, "result {k} is {found:?} beside {wanted:?}");
    }
    Ok(())
}

/// The figures as a table.
pub fn gpu_table(rows: &[GpuFigures]) -> Vec<String> {
    let mut lines = vec![format!(
        "{:<12} {:>10} {:>10} {:>6} {:>10} {:>6} {:>18}",
        "", "by hand ms", "fast ms", "ratio", "exact ms", "ratio", "gradient/function"
    )];
    for row in rows {
        let GpuFigures { name, by_hand, fast, exact, .. } = row;
        let of_function = row.gradient_over_function().map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        lines.push(format!(
            "{name:<12} {by_hand:>10.3} {fast:>10.3} {:>6.2} {exact:>10.3} {:>6.2} {of_function:>18}",
            row.ratio(),
            exact / by_hand
        ));
    }
    lines
}
