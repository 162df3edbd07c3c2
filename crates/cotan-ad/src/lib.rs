//! Derivative transforms from core IR to core IR: forward and reverse mode.
