// Every tool call is put to Sayso first and runs only if Sayso says allow. Whatever goes wrong, the call does not run.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const ARGUMENTS = "@ARGUMENTS@"
const PATIENCE_MS = "@PATIENCE_MS@"
const LARGEST = 4 * 1024 * 1024

// One question to Sayso. Answers with its object, or throws with the reason why there is none.
function ask(question) {
  return new Promise((resolve, reject) => {
    const stop = (why) => reject(new Error("Sayso: the call is blocked. " + why))
    let child
    try {
      child = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return stop("It could not be started (" + error + "). Run: sayso doctor")
    }
    let out = ""
    let err = ""
    const late = setTimeout(() => {
      child.kill("SIGKILL")
      stop("It did not answer in time. Run: sayso doctor")
    }, PATIENCE_MS)
    child.on("error", (error) => {
      clearTimeout(late)
      stop("It could not be started (" + error + "). Run: sayso doctor")
    })
    child.stdout.setEncoding("utf8")
    child.stderr.setEncoding("utf8")
    child.stdout.on("data", (text) => {
      out += text
      if (out.length > LARGEST) child.kill("SIGKILL")
    })
    child.stderr.on("data", (text) => {
      if (err.length < LARGEST) err += text
    })
    child.on("close", (code) => {
      clearTimeout(late)
      if (code !== 0) return stop(err.trim() || "It failed. Run: sayso doctor")
      let answer
      try {
        answer = JSON.parse(out)
      } catch {
        return stop("Its answer cannot be read. Run: sayso doctor")
      }
      if (answer === null || typeof answer !== "object") return stop("Its answer cannot be read. Run: sayso doctor")
      resolve(answer)
    })
    // Sayso may answer and be gone before it has read everything.
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(question))
  })
}

