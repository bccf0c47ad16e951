// Where commands run: the agent's workspace where OpenClaw says it, else where the gateway runs.
function folder(ctx) {
  return ctx?.workspaceDir ?? ctx?.cwd ?? process.cwd()
}

function about(event, ctx, more) {
  const directory = folder(ctx)
  const subagent = typeof ctx?.sessionKey === "string" && ctx.sessionKey.includes(":subagent:")
  return {
    event,
    sessionID: ctx?.sessionId ?? ctx?.sessionKey ?? ctx?.agentId ?? "openclaw",
    ...(subagent ? { agentID: ctx.sessionKey } : {}),
    ...(typeof ctx?.agentId === "string" ? { agentType: ctx.agentId } : {}),
    cwd: directory,
    directory,
    ...more,
  }
}

export default {
  id: "sayso",
  name: "Sayso",
  description: "Written by `sayso install openclaw`: puts every tool call to Sayso before it runs.",
  register(api) {
    api.on(
      "before_tool_call",
      async (event, ctx) => {
        let answer
        try {
          const call = { tool: event.toolName, args: event.params ?? {}, callID: event.toolCallId ?? ctx?.toolCallId }
          answer = await ask(about("tool.before", ctx, call))
        } catch (error) {
          return { block: true, blockReason: String(error?.message ?? error) }
        }
        const reason = typeof answer.reason === "string" ? answer.reason : "Sayso: the call is blocked."
        if (answer.decision === "ask") {
          return {
            requireApproval: {
              title: "Sayso asks about " + event.toolName,
              description: reason,
              severity: "warning",
              allowedDecisions: ["allow-once", "deny"],
            },
          }
        }
        if (answer.decision !== "allow") return { block: true, blockReason: reason }
        return answer.args === undefined ? undefined : { params: answer.args }
      },
      { priority: 1000, timeoutMs: PATIENCE_MS + 1000 },
    )

    api.on("after_tool_call", async (event, ctx) => {
      const ok = event.error === undefined || event.error === null
      const call = { tool: event.toolName, callID: event.toolCallId ?? ctx?.toolCallId, ok }
      const durationMs = typeof event.durationMs === "number" ? { durationMs: event.durationMs } : {}
      await ask(about("tool.after", ctx, { ...call, ...durationMs })).catch(() => {})
    })
  },
}
