import type { ClientApp, ClientCapabilities } from '@agentclientprotocol/sdk'
import type { AcpFacts } from '../../core/work/profile.ts'
import type { Calls } from './calls.ts'
import type { Rules } from './rules.ts'
import type { Sdk } from './sdk.ts'
import type { Telling } from './telling.ts'
import type { Terminals } from './terminals.ts'
import { elicit } from './elicitation.ts'
import { readFile, writeFile } from './files.ts'
import { permit } from './permission.ts'
import { Refusal } from './rules.ts'

type Parts = {
  rules: Rules
  calls: Calls
  telling: Telling
  terminals: Terminals
  steering: AcpFacts['steering']
  /** What was typed meanwhile. */
  steer(): Promise<string[]>
}

/** What we can do for an agent: all of it is under the rules, so an agent that has us do it is held by them. */
export function capabilitiesFor(facts: AcpFacts | undefined): ClientCapabilities {
  return {
    fs: { readTextFile: facts?.readsItself !== true, writeTextFile: true },
    terminal: true,
    elicitation: { form: {} },
  }
}

const notAllowed = -32603

/** The client's side of the protocol: every request of the agent, answered under the rules of this turn. */
export function served(sdk: Sdk, { rules, calls, telling, terminals, steering, steer }: Parts): ClientApp {
  const { client, methods, RequestError } = sdk
  const { session, fs, terminal, elicitation } = methods.client

  /** A refusal goes to the agent in its own words. */
  const inWords = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof Refusal ? new RequestError(notAllowed, error.message) : error
    }
  }

  const app = client({ name: 'termaite' })
    .onRequest(session.requestPermission, async ({ params, signal }) => {
      await telling.pause()
      const call = await calls.asked(params.toolCall)
      const { response, allowed } = await permit(params, call, rules, signal)
      if (!allowed) await calls.refuse(call.id)
      return response
    })
    .onRequest(fs.readTextFile, ({ params }) =>
      inWords(async () => {
        const content = await readFile(params, rules)
        if (content === undefined) throw RequestError.resourceNotFound(params.path)
        return { content }
      }),
    )
    .onRequest(fs.writeTextFile, ({ params, signal }) => inWords(() => writeFile(params, rules, signal)))
    .onRequest(terminal.create, ({ params, signal }) =>
      inWords(async () => ({ terminalId: await terminals.create(params, signal) })),
    )
    .onRequest(terminal.output, ({ params }) => inWords(() => terminals.output(params.terminalId)))
    .onRequest(terminal.waitForExit, ({ params }) => inWords(() => terminals.wait(params.terminalId)))
    .onRequest(terminal.kill, ({ params }) => inWords(() => terminals.kill(params.terminalId)))
    .onRequest(terminal.release, ({ params }) => inWords(() => terminals.release(params.terminalId)))
    .onRequest(elicitation.create, ({ params, signal }) => elicit(params, rules, signal))
  if (!steering) return app
  const { method, answer } = steering
  return app.onRequest(
    method,
    (params: unknown) => params,
    async () => answer(await steer()),
  )
}
