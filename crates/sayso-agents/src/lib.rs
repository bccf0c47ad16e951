//! Part of Sayso.
