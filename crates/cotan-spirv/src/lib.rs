//! The Vulkan backend, first part: numbers on a device.
//!
//! - [`emit`] writes compute kernels as SPIR-V, from the instructions of the op table;
//! - [`numbers`] says which of them are the driver's own, and holds what stands in for the others;
//! - [`vulkan`] finds devices, opens one, and runs kernels on it;
//! - [`kernels`] writes the kernels of a plan, and [`runner`] runs plans;
//! - [`turn`] is a lock whose wait can be stopped;
//! - [`probe`] asks an opened device for every instruction and type, and fills in the table of numbers.
//!
//! Nothing here prints or reads the environment: whoever opens a device says which. Unsafe code stands in [`vulkan`] alone.
//!
//! ```
//! use cotan_ir::Elem;
//! use cotan_ops::Instruction;
//! use cotan_spirv::emit::Emitter;
//! use cotan_spirv::features::Features;
//! use cotan_spirv::numbers::Numbers;
//!
//! // Every thread adds its number to an element of an array, whose address is the first argument.
//! let numbers = Numbers::of_driver();
//! let features = Features { int64: true, addresses: true, ..Features::default() };
//! let mut out = Emitter::new(features, &numbers, 64);
//! let array = out.argument(0);
//! let thread = out.thread();
//! let place = out.address(Elem::I64, array, thread);
//! let element = out.load(Elem::I64, place);
//! let sum = out.instruction(Instruction::Add, Elem::I64, &[element, thread])?;
//! out.store(Elem::I64, place, sum);
//! let kernel = out.finish();
//! assert!(kernel.needs().int64 && !kernel.needs().float64);
//! # Ok::<(), cotan_spirv::emit::NotEmitted>(())
//! ```

pub mod emit;
pub mod features;
pub mod kernels;
pub mod numbers;
pub mod probe;
pub mod runner;
pub mod turn;
pub mod vulkan;
