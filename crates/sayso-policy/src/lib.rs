//! The heart of Sayso: what an agent asks for, what the owner's policy says of it, and why.
