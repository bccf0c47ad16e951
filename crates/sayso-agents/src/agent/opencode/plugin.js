export const Sayso = async ({ directory, client }) => {
  const parents = new Map()
  const began = new Map()

  // Who started a session: its own events say so, else the server does.
  async function parentOf(session) {
    if (!parents.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined)
      parents.set(session, found?.data?.parentID)
    }
    return parents.get(session)
  }

  async function about(event, session, more) {
    const parentSessionID = await parentOf(session)
    return { event, sessionID: session, ...(parentSessionID ? { parentSessionID } : {}), cwd: directory, directory, ...more }
  }

  // What only tells Sayso something must not disturb the session.
  const tell = async (event, session, more) => {
    try {
      await ask(await about(event, session, more))
    } catch {}
  }

  return {
    "tool.execute.before": async (input, output) => {
      const call = { tool: input.tool, callID: input.callID, args: output.args ?? {} }
      const answer = await ask(await about("tool.before", input.sessionID, call))
      if (answer.decision !== "allow") {
        throw new Error(typeof answer.reason === "string" ? answer.reason : "Sayso: the call is blocked.")
      }
      if (answer.args !== undefined) {
        if (answer.args === null || typeof answer.args !== "object" || typeof output.args !== "object") {
          throw new Error("Sayso: the call is blocked. Its arguments could not be replaced.")
        }
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
      began.set(input.callID, Date.now())
    },

    "tool.execute.after": async (input, output) => {
      const durationMs = began.has(input.callID) ? Date.now() - began.get(input.callID) : undefined
      began.delete(input.callID)
      const exit = output?.metadata?.exit
      await tell("tool.after", input.sessionID, {
        tool: input.tool,
        callID: input.callID,
        ok: exit === undefined || exit === null || exit === 0,
        ...(durationMs === undefined ? {} : { durationMs }),
      })
    },

    event: async ({ event }) => {
      const info = event?.properties?.info
      if (event?.type === "session.created" && info?.id) {
        parents.set(info.id, info.parentID)
        await tell(info.parentID ? "subagent.start" : "session.start", info.id, {})
      }
      if (event?.type === "session.deleted" && info?.id) await tell("session.end", info.id, {})
    },
  }
}
