import type { InputRequest, McpServer, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server'
import { acceptedContent, fromJsonSchema, inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { message, said, text } from './bodies.ts'

const none = fromJsonSchema({ type: 'object', properties: {} })

const elicit = (words: string, field: string, type = 'string') =>
  inputRequired.elicit({
    message: words,
    requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] } as never,
  })
const sample = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens })

/** Tools of the newer protocol, which end with the inputs that they need and are called again with them. */
export function addInputs(server: McpServer, state: RequestStateCodec<string>): void {
  const tool = (name: string, run: (context: ServerContext) => Promise<object>) =>
    server.registerTool(
      name,
      { description: `The suite's ${name}.`, inputSchema: none },
      (_input, context) => run(context) as Promise<{ content: [] }>,
    )
  /** Asks until all of it is answered, then says so. */
  const asking =
    (inputRequests: Record<string, InputRequest>, done: (given: ServerContext['mcpReq']) => string) =>
    async ({ mcpReq }: ServerContext) =>
      Object.keys(inputRequests).every((key) => answered(mcpReq, key))
        ? said(text(done(mcpReq)))
        : inputRequired({ inputRequests })
  tool('test_input_required_result_elicitation', async ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'user_name')?.name
    if (typeof name === 'string') return said(text(`Hello, ${name}!`))
    return inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } })
  })
  tool(
    'test_streaming_elicitation',
    asking({ user_name: elicit('What is your name?', 'name') }, () => 'Hello.'),
  )
  tool(
    'test_input_required_result_sampling',
    asking({ capital_question: sample('What is the capital of France?', 100) }, ({ inputResponses }) =>
      JSON.stringify(inputResponses),
    ),
  )
  tool(
    'test_input_required_result_list_roots',
    asking({ client_roots: inputRequired.listRoots() }, ({ inputResponses }) => JSON.stringify(inputResponses)),
  )
  // The library refuses to ask a client for what it did not declare.
  tool(
    'test_missing_capability',
    asking({ question: sample('Who are you?', 10) }, () => 'It is there.'),
  )
  /** The same, with a state that must come back as it went. */
  const stateful =
    (inputRequests: Record<string, InputRequest>): ((context: ServerContext) => Promise<object>) =>
    async (context) => {
      const { mcpReq } = context
      const whole = Object.keys(inputRequests).every((key) => answered(mcpReq, key))
      if (whole && mcpReq.requestState<string>() === 'asked') return said(text('state-ok'))
      return inputRequired({ inputRequests, requestState: await state.mint('asked', context) })
    }
  const confirm = { confirm: elicit('Please confirm', 'ok', 'boolean') }
  tool('test_input_required_result_request_state', stateful(confirm))
  tool('test_input_required_result_tampered_state', stateful(confirm))
  tool(
    'test_input_required_result_multiple_inputs',
    stateful({
      user_name: elicit('What is your name?', 'name'),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    }),
  )
  tool('test_input_required_result_multi_round', async (context) => {
    const { mcpReq } = context
    const at = mcpReq.requestState<string>()
    if (at === 'step2' && answered(mcpReq, 'step2')) return said(text('Done after two rounds.'))
    const next = at === 'step1' && answered(mcpReq, 'step1') ? 'step2' : 'step1'
    const inputRequests = {
      [next]:
        next === 'step1' ? elicit('Step 1: What is your name?', 'name') : elicit('Step 2: Which colour?', 'color'),
    }
    return inputRequired({ inputRequests, requestState: await state.mint(next, context) })
  })
  tool('test_input_required_result_capabilities', async ({ mcpReq }) => {
    const { elicitation, sampling } = capabilitiesOf(mcpReq.envelope)
    const inputRequests = {
      ...(elicitation ? { user_name: elicit('What is your name?', 'name') } : {}),
      ...(sampling ? { greeting: sample('Generate a greeting', 50) } : {}),
    }
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : said(text('Nothing to ask.'))
  })
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: "The suite's test_input_required_result_prompt." },
    async ({ mcpReq }: ServerContext) => {
      const context = acceptedContent(mcpReq.inputResponses, 'user_context')?.context
      if (typeof context === 'string') return { messages: [message(text(`Use this context: ${context}`))] }
      return inputRequired({
        inputRequests: { user_context: elicit('What context should the prompt use?', 'context') },
      })
    },
  )
}

const capabilitiesOf = (envelope: object | undefined): Record<string, unknown> =>
  (envelope as Record<string, Record<string, unknown>> | undefined)?.['io.modelcontextprotocol/clientCapabilities'] ??
  {}

const answered = ({ inputResponses }: ServerContext['mcpReq'], key: string) =>
  inputResponse(inputResponses, key).kind !== 'missing'
