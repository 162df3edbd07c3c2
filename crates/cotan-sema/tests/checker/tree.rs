//! What the typed tree says.
