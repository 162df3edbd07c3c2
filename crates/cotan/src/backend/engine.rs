//! Names of backends.

use std::fmt;

/// The name of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Engine(&'static str);

impl Engine {
    /// The reference interpreter: the definition of what is right.
    pub const INTERPRETER: Engine = Engine("interp");
    /// Machine code for this CPU; the interpreter where no LLVM is found.
    pub const CPU: Engine = Engine("cpu");
    /// A GPU, or whatever else Vulkan finds.
    pub const VULKAN: Engine = Engine("vulkan");
    /// The backends that every compiler has.
    pub const ALL: [Engine; 3] = [Engine::INTERPRETER, Engine::CPU, Engine::VULKAN];

    /// A backend of one's own, by its name.
    pub const fn new(name: &'static str) -> Engine {
        Engine(name)
    }

    /// The backend of this name, of those that every compiler has.
    pub fn named(name: &str) -> Result<Engine, UnknownDevice> {
        Engine::ALL.into_iter().find(|engine| engine.0 == name).ok_or_else(|| UnknownDevice { name: name.to_owned() })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// A device that is in no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDevice {
    /// Its name.
    pub name: String,
}

impl UnknownDevice {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        "the nearest that works: --backend cpu"
    }
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the device `{}` is not supported in this version", self.name)
    }
}

impl std::error::Error for UnknownDevice {}
