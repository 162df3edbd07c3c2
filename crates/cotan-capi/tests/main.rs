//! The C library: by C programs that are compiled against it, and by the programs that every host runs.

mod c_programs;
mod hosts;
