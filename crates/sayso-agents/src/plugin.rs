//! What Sayso's own plugins say to `sayso hook opencode` and `sayso hook openclaw`, and what they hear.
//!
//! OpenCode and OpenClaw run no program before a call; they run plugins. Sayso's plugin there is a few lines that start
//! `sayso hook AGENT`, write one JSON object to its standard input, close it, and read one JSON object from its standard
//! output. This page is the contract between the two.
//!
//! In, for every event:
//!
//! | key | |
//! |---|---|
//! | `event` | `tool.before`, `permission`, `tool.after`, `session.start`, `session.end`, `subagent.start` or `config.change` |
//! | `sessionID` | the agent's id of the session |
//! | `parentSessionID` | the session that started this one, for a subagent; or `agentID`, the subagent's own id |
//! | `cwd` | where commands would run, absolute |
//! | `directory` | the project's folder as the agent knows it, absolute: fixes the workspace at the session's first word |
//!
//! with `tool.before` and `permission` also `tool` (the agent's own name), `args` (an object, exactly as the tool would
//! get it), `callID`, and `server` if the agent says which MCP server the tool is of; with `tool.after` also `tool`,
//! `callID`, `ok` (a boolean), and where known `durationMs`, `tokens` and `error`.
//!
//! ```json
//! {"event":"tool.before","tool":"bash","args":{"command":"ls"},"sessionID":"ses_1","callID":"call_1","cwd":"/p","directory":"/p"}
//! ```
//!
//! Out, with exit code 0: one object on one line,
//!
//! ```json
//! {"decision":"allow","reason":"..."}
//! ```
//!
//! where `decision` is `allow`, `deny`, `ask` (OpenClaw only: it has a prompt of its own that a plugin can call for) or,
//! for events at which nothing is decided, `none`. `args`, if it is there, replaces the call's arguments.
//!
//! INVARIANT for a plugin: a call runs only after exit code 0 and a whole object whose `decision` is `allow`. Anything
//! else (another exit code, no output, output that is no such object, a process that cannot be started) stops the call,
//! with standard error as the reason where there is any.
