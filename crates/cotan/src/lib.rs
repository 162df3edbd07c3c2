//! Cotan as a library: compile programs, call functions, take derivatives.
