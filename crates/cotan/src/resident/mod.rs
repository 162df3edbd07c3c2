//! Arrays that stay on a device (resident arrays): uploaded once, given to calls, made by calls, and read when they are wanted.
//!
//! An array that is a plain argument crosses to the device with every call, and a plain result comes back. A [`DeviceValue`] does
//! neither: [`Compiler::upload`] makes one, [`Function::call_on_device`] takes and gives them, [`DeviceValue::read`] brings one
//! back. So an optimiser whose step is a function of a program moves scalars only:
//!
//! ```
//! use cotan::host::HostValue;
//! use cotan::resident::DeviceArguments;
//! use cotan::{Compiler, Config, Engine, Request};
//!
//! let text = "fn loss[N](x: f64[N], goal: f64[N]) -> f64 = +/tabulate(N, |i| (x[i] - goal[i]) ** 2)
//!
//! # One step of gradient descent, and the loss before it.
//! fn step[N](x: f64[N], goal: f64[N], rate: f64) -> (f64[N], f64) {
//!   let (value, slope) = value_and_grad[x](loss)(x, goal)
//!   (x .- rate .* slope, value)
//! }";
//! let compiler = Compiler::new(Config::default())?;
//! let program = compiler.check("descent.cot", text);
//! let Ok(step) = compiler.function(&program, &Request::function("step"), Engine::VULKAN) else {
//!     return Ok(()); // There is no device.
//! };
//! let mut args = DeviceArguments::new();
//! args.insert("goal".into(), compiler.upload(&HostValue::f64s(&[2], &[1.0, -2.0]))?);
//! args.insert("x".into(), compiler.upload(&HostValue::f64s(&[2], &[0.0, 0.0]))?);
//! args.insert("rate".into(), HostValue::f64(0.25).into());
//! for _ in 0..40 {
//!     let [x, _loss] = step.call_on_device(&args)?.into_parts().try_into().expect("two results");
//!     args.insert("x".into(), x);
//! }
//! let x = args["x"].read()?;
//! assert!(x.floats().iter().zip([1.0, -2.0]).all(|(x, goal)| (x - goal).abs() < 1e-9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A call is over when it returns: its errors are its own, and its arrays have their elements.
//! - Nothing ever writes to an array. Results share memory with no argument and no other result, so an array may be given twice,
//!   or be given and be a result.
//! - Clones are the same array. An array outlives function and compiler, may be used and dropped by any thread, and gives its memory
//!   back with its last clone, at once: a call that uses it has a clone of its own. Memory is kept for arrays of the same size.
//! - An array belongs to the device of the compiler that uploaded it. On another one, or once its device was lost, a call with it is
//!   [`CallError::Device`], which says what to do.
//! - A call that runs on the host, see [`Function::ran`], reads its arrays, and uploads its results.

mod fit;

pub use fit::DeviceArguments;

use crate::backend::FlatOperand;
use crate::host::{ArgumentMisfit, HostType, HostValue, NoMemory, Unbuilt, rebuilt};
use crate::{CallError, Compiler, DeviceFailure, Function};
use cotan_ir::{Elem, OutOfMemory};
use cotan_ops::Value;
use cotan_spirv::runner::Array;

/// An array on a device. Clones are the same array.
#[derive(Clone, Debug)]
pub struct DeviceArray(pub(crate) Array);

impl DeviceArray {
    /// Type of the elements.
    pub fn elem(&self) -> Elem {
        self.0.elem()
    }

    /// Extents, outermost first.
    pub fn dims(&self) -> &[i64] {
        self.0.dims()
    }

    /// Bytes of its elements.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Its elements on the host. The error says that the device was lost.
    pub fn read(&self) -> Result<Value, CallError> {
        Ok(self.0.read().map_err(DeviceFailure::of_array)?)
    }

    /// Whether its device can still be used: elsewhere its elements are lost.
    pub fn is_usable(&self) -> bool {
        self.0.device().is_usable()
    }
}

/// A value whose arrays lie on a device. Where a call takes one, a value of the host is given in its place by
/// [`HostValue::into`](From), and moved with the call.
#[derive(Clone, Debug)]
pub enum DeviceValue {
    /// A value of the host: scalars, and enums.
    Host(HostValue),
    /// A tensor of scalars.
    Array(DeviceArray),
    /// A tuple.
    Tuple(Vec<DeviceValue>),
    /// A struct with its fields in order. A tensor of structs is one, too: its fields are arrays whose first extents are those of
    /// the tensor. A tensor of tuples is such a tuple.
    Struct(Vec<(String, DeviceValue)>),
}

impl From<HostValue> for DeviceValue {
    fn from(value: HostValue) -> DeviceValue {
        DeviceValue::Host(value)
    }
}

impl From<DeviceArray> for DeviceValue {
    fn from(array: DeviceArray) -> DeviceValue {
        DeviceValue::Array(array)
    }
}

impl DeviceValue {
    /// The value on the host. A tensor of structs comes back as the struct of its arrays.
    pub fn read(&self) -> Result<HostValue, CallError> {
        Ok(match self {
            DeviceValue::Host(value) => value.clone(),
            DeviceValue::Array(array) => HostValue::Tensor(array.read()?),
            DeviceValue::Tuple(parts) => {
                HostValue::Tuple(parts.iter().map(DeviceValue::read).collect::<Result<_, CallError>>()?)
            }
            DeviceValue::Struct(fields) => {
                let field = |(name, value): &(String, DeviceValue)| Ok((name.clone(), value.read()?));
                HostValue::Struct(fields.iter().map(field).collect::<Result<_, CallError>>()?)
            }
        })
    }

    /// The parts of a tuple; every other value is the only part of itself.
    pub fn into_parts(self) -> Vec<DeviceValue> {
        match self {
            DeviceValue::Tuple(parts) => parts,
            DeviceValue::Host(value) => value.into_parts().into_iter().map(DeviceValue::Host).collect(),
            DeviceValue::Array(_) | DeviceValue::Struct(_) => vec![self],
        }
    }

    /// The array, if it is one on a device.
    pub fn as_array(&self) -> Option<&DeviceArray> {
        match self {
            DeviceValue::Array(array) => Some(array),
            DeviceValue::Host(_) | DeviceValue::Tuple(_) | DeviceValue::Struct(_) => None,
        }
    }

    /// The value of the host, if it is one.
    pub fn as_host(&self) -> Option<&HostValue> {
        match self {
            DeviceValue::Host(value) => Some(value),
            DeviceValue::Array(_) | DeviceValue::Tuple(_) | DeviceValue::Struct(_) => None,
        }
    }
}

impl Compiler {
    /// A value whose arrays are copied to the device, where they stay. Its scalars and enums stay on the host. A tensor of structs
    /// has to have elements, as they tell its fields.
    ///
    /// The error is [`CallError::Device`] where there is no device or it refuses the memory, and [`CallError::Arguments`] for a
    /// tensor whose elements are not as many as its extents say.
    pub fn upload(&self, value: &HostValue) -> Result<DeviceValue, CallError> {
        Ok(match value {
            HostValue::Scalar(_) | HostValue::Enum { .. } => DeviceValue::Host(value.clone()),
            HostValue::Tensor(tensor) => {
                if cotan_ops::ElementCount::of(&tensor.dims).is_none_or(|n| n.get() != tensor.bits.len()) {
                    let (name, dims, found) = ("value".to_owned(), tensor.dims.clone(), tensor.bits.len());
                    return Err(ArgumentMisfit::Elements { name, dims, found }.into());
                }
                DeviceValue::Array(DeviceArray(self.upload_array(tensor)?))
            }
            HostValue::Tuple(parts) => {
                DeviceValue::Tuple(parts.iter().map(|part| self.upload(part)).collect::<Result<_, CallError>>()?)
            }
            HostValue::Struct(fields) => {
                let field = |(name, value): &(String, HostValue)| Ok((name.clone(), self.upload(value)?));
                DeviceValue::Struct(fields.iter().map(field).collect::<Result<_, CallError>>()?)
            }
            HostValue::Array { dims, items } => self.upload(&columns(dims, items)?)?,
        })
    }
}

/// A tensor of tuples or structs as one of arrays.
fn columns(dims: &[i64], items: &[HostValue]) -> Result<HostValue, CallError> {
    let misfit =
        || ArgumentMisfit::Operands("the elements of a tensor have not the same fields and extents".to_owned());
    let parts = |of: &dyn Fn(&HostValue) -> Option<HostValue>| {
        let column: Option<Vec<HostValue>> = items.iter().map(of).collect();
        columns(dims, &column.ok_or_else(misfit)?)
    };
    match items.first() {
        Some(HostValue::Scalar(first)) => {
            let bits = items.iter().map(|item| Some(item.as_scalar()?.bits())).collect::<Option<_>>();
            let bits = bits.ok_or_else(misfit)?;
            Ok(HostValue::Tensor(Value { elem: first.elem(), dims: dims.to_vec(), bits }))
        }
        Some(HostValue::Tensor(first)) => {
            let mut bits = Vec::new();
            for item in items {
                let item = item.as_tensor().filter(|item| (item.elem, &item.dims) == (first.elem, &first.dims));
                bits.extend_from_slice(&item.ok_or_else(misfit)?.bits);
            }
            Ok(HostValue::Tensor(Value { elem: first.elem, dims: [dims, &first.dims].concat(), bits }))
        }
        Some(HostValue::Tuple(first)) => {
            let column = |k: usize| {
                parts(&move |item| match item {
                    HostValue::Tuple(parts) => parts.get(k).cloned(),
                    HostValue::Scalar(_)
                    | HostValue::Tensor(_)
                    | HostValue::Array { .. }
                    | HostValue::Struct(_)
                    | HostValue::Enum { .. } => None,
                })
            };
            Ok(HostValue::Tuple((0..first.len()).map(column).collect::<Result<_, CallError>>()?))
        }
        Some(HostValue::Struct(first)) => {
            let column = |(k, (name, _)): (usize, &(String, HostValue))| {
                let field = parts(&move |item| match item {
                    HostValue::Struct(fields) => fields.get(k).filter(|(n, _)| n == name).map(|(_, v)| v.clone()),
                    HostValue::Scalar(_)
                    | HostValue::Tensor(_)
                    | HostValue::Array { .. }
                    | HostValue::Tuple(_)
                    | HostValue::Enum { .. } => None,
                });
                Ok((name.clone(), field?))
            };
            Ok(HostValue::Struct(first.iter().enumerate().map(column).collect::<Result<_, CallError>>()?))
        }
        Some(HostValue::Array { .. } | HostValue::Enum { .. }) | None => Err(misfit().into()),
    }
}

impl Function {
    /// Calls the function with arguments by name, as [`Self::call`] does, of which arrays may lie on the device. Of a function of
    /// [`Engine::VULKAN`](crate::Engine::VULKAN) the arrays that it gives stay there, gradients too; of other functions they come to
    /// the host. See [`crate::resident`].
    pub fn call_on_device(&self, args: &DeviceArguments) -> Result<DeviceValue, CallError> {
        self.call_on_device_with_output(args, &mut |_| {})
    }

    /// The same; what the function prints goes to `output`, piece by piece as it happens.
    pub fn call_on_device_with_output(
        &self,
        args: &DeviceArguments,
        output: &mut dyn FnMut(&str),
    ) -> Result<DeviceValue, CallError> {
        let operands = fit::fit_operands(&self.entry, args)?;
        let results = self.call_flat_resident(&operands, &mut |text| {
            if !text.starts_with(cotan_ops::DEBUG_MARK) {
                output(text);
            }
        })?;
        let all: Vec<FlatOperand> = self
            .entry
            .leaf_results
            .iter()
            .map(|at| results.get(*at).cloned())
            .collect::<Option<_>>()
            .ok_or_else(|| self.misfit())?;
        on_device(&self.entry.signature.result, 0, &mut all.into_iter(), &|| self.misfit())
    }

    fn misfit(&self) -> CallError {
        CallError::Bug(format!("results of `{}` do not fit its type", self.entry.symbol))
    }
}

/// A value of flat results. `lead` is how many extents come first that are those of a tensor around it.
fn on_device(
    ty: &HostType,
    lead: usize,
    leaves: &mut dyn Iterator<Item = FlatOperand>,
    misfit: &dyn Fn() -> CallError,
) -> Result<DeviceValue, CallError> {
    match ty {
        HostType::Scalar(_) => Ok(match leaves.next().ok_or_else(misfit)? {
            FlatOperand::Array(array) => DeviceValue::Array(DeviceArray(array)),
            FlatOperand::Value(value) => match value.scalar().filter(|_| lead == 0) {
                Some(scalar) => DeviceValue::Host(HostValue::Scalar(scalar)),
                None => DeviceValue::Host(HostValue::Tensor(value)),
            },
        }),
        HostType::Tensor { elem, dims } => on_device(elem, lead + dims.len(), leaves, misfit),
        HostType::Tuple(tys) => {
            let parts = tys.iter().map(|ty| on_device(ty, lead, leaves, misfit)).collect::<Result<_, CallError>>()?;
            Ok(DeviceValue::Tuple(parts))
        }
        HostType::Struct { fields, .. } => {
            let mut field = |(name, ty): &(String, HostType)| Ok((name.clone(), on_device(ty, lead, leaves, misfit)?));
            Ok(DeviceValue::Struct(fields.iter().map(&mut field).collect::<Result<_, CallError>>()?))
        }
        HostType::Enum { .. } => {
            let mut values = Vec::new();
            for _ in ty.leaves() {
                values.push(leaves.next().ok_or_else(misfit)?.to_value()?);
            }
            let value = rebuilt(ty, &mut values.into_iter()).map_err(|unbuilt| match unbuilt {
                Unbuilt::Misfit => misfit(),
                Unbuilt::Memory(NoMemory(bytes)) => CallError::OutOfMemory(OutOfMemory::of_machine(bytes)),
            })?;
            Ok(DeviceValue::Host(value))
        }
    }
}
