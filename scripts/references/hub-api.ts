import type { ServerPath } from '../../src/hub/http/access/server-paths.ts'
import type { JsonSchema, Shape } from '../../src/core/data/shape.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '../../src/core/data/shape.ts'
import { rights } from '../../src/hub/model/access/rights.ts'
import { hubProtocol } from '../../src/hub/model/hub-protocol.ts'
import { namedShapes, plainText } from '../../src/hub/model/operations/described.ts'
import { methodAndPath, takesKey } from '../../src/hub/model/operations/operation.ts'
import { operationEntries } from '../../src/hub/model/operations/operations.ts'
import { serverPaths } from '../../src/hub/http/access/server-paths.ts'
import { code, page, plain, table } from './page.ts'

/** An operation as the descriptions need it. */
const rows = operationEntries.map(([name, operation]) => ({ name, ...methodAndPath(name), operation }))
type Row = (typeof rows)[number]

const serverRows: readonly ServerPath[] = Object.values(serverPaths)

/** The description of the hub's HTTP API, as OpenAPI 3.1. */
export function openApi(): string {
  const paths: Record<string, Record<string, unknown>> = {}
  const put = (path: string, method: string, operation: unknown) => {
    const templated = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[templated] = { ...paths[templated], [method.toLowerCase()]: operation }
  }
  for (const row of rows) put(row.path, row.method, rowOperation(row))
  for (const row of serverRows) if (row.answer !== 'socket') put(row.path, row.method, serverOperation(row))
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'The hub of termaite',
      version: String(hubProtocol),
      summary: 'Agents register and take tasks; people add, answer and review them.',
      description:
        'Every request needs a key as a bearer token, made by `termaite hub keys add`, or the cookie of a browser that is signed in. The role of the key decides what it may do: `x-roles` of each operation. A refused request is answered with `{"error": "…"}`. A change with the header `Idempotency-Key` is made once, however often it is sent: every one takes it as a parameter, but for those of agents that lead to the same state again anyway.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://localhost:3456', description: 'A hub on this machine' }],
    security: [{ key: [] }, { cookie: [] }],
    tags: tags(),
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of the hub.' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'termaite',
          description: 'A browser that was signed in by a link; the name of the cookie ends with the port of the hub.',
        },
      },
      responses: Object.fromEntries(
        Object.entries(refusals).map(([name, { description }]) => [
          name,
          { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } },
        ]),
      ),
      schemas: {
        Refusal: { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] },
        ...Object.fromEntries(Object.entries(namedShapes).map(([name, shape]) => [name, opened(shape.json('brief'))])),
      },
    },
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The refusals of the hub, by the name of the response. */
const refusals = {
  Wrong: { status: 400, description: 'The request has another form than the hub reads; the words say which.' },
  Unknown: { status: 401, description: 'The hub does not know the key.' },
  Forbidden: { status: 403, description: 'The role of the key may not do this.' },
  Missing: { status: 404, description: 'There is no such thing.' },
  Conflict: { status: 409, description: 'The state of the thing does not allow it.' },
  Long: { status: 413, description: 'The body is too long.' },
  Busy: { status: 429, description: 'Too many requests; retry-after says when to come back.' },
  Away: { status: 503, description: 'The hub does not reach its ledger; retry-after says when to come back.' },
}

const refused = (...names: readonly (keyof typeof refusals)[]) =>
  Object.fromEntries(names.map((name) => [String(refusals[name].status), { $ref: `#/components/responses/${name}` }]))

function rowOperation(row: Row): object {
  const { name, method, path, operation } = row
  const { about, right, takesPieces, output } = operation
  const body = bodyIn(row)
  return {
    operationId: operationId(method, path),
    summary: about,
    tags: [tagOf(path)],
    'x-roles': rights[right].roles,
    ...parametersIn(path, queryIn(row), takesKey(name, operation)),
    ...(takesPieces
      ? { requestBody: { required: true, content: { 'application/octet-stream': {} } } }
      : body
        ? { requestBody: bodyOf(body) }
        : {}),
    responses: {
      200: { description: 'Done.', ...contentOf(output) },
      ...refused('Wrong', 'Unknown', 'Forbidden', ...ofRow(row)),
      ...refused('Busy', 'Away'),
    },
  }
}

const bodyIn = ({ method, operation: { input } }: Row): JsonSchema | undefined =>
  method === 'POST' && input ? parser(input).schema : undefined

/** The parameters of the query, with their meanings. */
const queryIn = ({ method, operation: { input = {} } }: Row): Record<string, string> =>
  method === 'POST'
    ? {}
    : Object.fromEntries(Object.entries(input).map(([name, shape]) => [name, String(shape.json('brief').description)]))

function contentOf(answer: Shape<unknown>): object {
  if (answer === plainText) return { content: { 'text/plain': {} } }
  return { content: { 'application/json': { schema: opened(answer.json('brief')) } } }
}

/** A schema of answers: a newer hub may send more fields than a client knows. */
function opened(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name === 'additionalProperties' ? undefined : value)),
  )
}

function ofRow({ method, path }: Row): ('Missing' | 'Conflict' | 'Long')[] {
  const named = path.includes(':') ? (['Missing'] as const) : []
  return [...named, ...(method === 'POST' ? (['Conflict', 'Long'] as const) : [])]
}

function serverOperation({ method, path, about, query = {}, answer, open }: ServerPath): object {
  const types = { json: 'application/json', events: 'text/event-stream', text: 'text/plain', socket: '' }
  return {
    operationId: operationId(method, path),
    summary: about,
    tags: [tagOf(path)],
    ...(open ? { security: [] } : {}),
    ...parametersIn(path, query),
    responses: {
      200: { description: 'Done.', content: { [types[answer]]: {} } },
      ...(open ? {} : refused('Unknown', 'Forbidden', 'Busy')),
    },
  }
}

function bodyOf(schema: JsonSchema): object {
  const isNeeded = ((schema.required ?? []) as string[]).length > 0
  return { required: isNeeded, content: { 'application/json': { schema } } }
}

/** The header by which a request is known when it is sent again. */
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A random name of your own for this request: sent again with it, the request changes nothing further.',
  schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
}

function parametersIn(path: string, query: Readonly<Record<string, string>>, isChange = false): object {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const asked = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  const parameters = [...named, ...asked, ...(isChange ? [idempotencyKey] : [])]
  return parameters.length === 0 ? {} : { parameters }
}

/** `post-tasks-id-approve` for POST /api/tasks/:id/approve. */
const operationId = (method: string, path: string) =>
  [method.toLowerCase(), ...path.split('/').filter((part) => part !== '' && part !== 'api')]
    .map((part) => part.replace(':', ''))
    .join('-')

const tagOf = (path: string) => path.split('/').filter((part) => part !== '' && part !== 'api')[0]!

function tags(): object[] {
  const all = [...rows, ...serverRows.filter(({ answer }) => answer !== 'socket')]
  return [...new Set(all.map(({ path }) => tagOf(path)))].map((name) => ({ name }))
}

export function apiReference(): string {
  return page(
    'HTTP API of the hub',
    '`hub-openapi.json` in this folder describes it as OpenAPI 3.1. A request needs a key: `authorization: Bearer <key>`, made by `termaite hub keys add <name> --role <role>`. A list that is longer than one answer names the next page in the header `x-next`.',
    '```sh\ncurl -H "authorization: Bearer $TERMAITE_HUB_KEY" http://localhost:3456/api/tasks?state=IN_REVIEW\n```',
    '## Sending a request again',
    'A client whose answer was lost sends its request again. With the header `Idempotency-Key: <a random name of your own for this request>` every change (`POST`) is made once, at whichever hub of the ledger the request arrives, and the same request is answered as the first time. The hub remembers it for a day; an answer is sealed with the credentials that it was asked for with, so that the secret of a new key comes back too. The same key with another body is refused with 400. A request that was refused changed nothing, and is tried again under its key.',
    'The words of agents (`wait`, `ack`, `progress`, `respond` and the others under the operations of agents), uploads, and a task or pipeline with an `id` of your own need no key: sent again, they lead to the same state. A task remembers its newest 50 requests in the transaction that changes it, and so does an agent its messages: sent again after a hub was killed, they are answered with the task as it is then. When a hub is killed in the middle of another change, the same request is answered with 409 and the time at which it began, because nobody knows whether the change was made: look, and use a new key if it was not. A request that ends the key that it came with is answered with 401 the second time. (Over MCP the tools `assign_task`, `add_review_comment`, `answer_task` and `broadcast_system_prompt` take the key as `requestId`.)',
    '## An agent of your own',
    'An agent registers, waits, acknowledges the task that it gets, and responds. These two fields keep a late or repeated request from doing harm:',
    '- `ticket`: `POST /api/agents/:id/wait` answers with the task and a `ticket`, which names this one time that the task was given out. Send it in the place of `:id` to `ack`, `progress`, `block`, `release` and `respond`. When an agent was silent for too long, or asks for work again without an answer, its task is given out again with another ticket, and every word with the old one is refused with 409. The plain id of a task is accepted there only as long as the task was given out once: after a restart under the same name it could not tell the late answer of the first run from the real one.\n- `asked`: `{"run": "…", "number": 1}` in the body of `wait`. `run` is a text that is new for each process, and `number` grows with each request for work. A request that its agent has given up, and that a proxy delivers after a newer one, is then known by its lower number: it gets nothing, and takes no task away. A wait that is sent again because its answer was lost gets a higher number, and the task that was in the lost answer comes back with a new ticket.',
    'This program is such an agent (`docs/examples/hub-agent.mjs`; a test runs it):',
    `\`\`\`js\n${readFileSync(join(import.meta.dirname, '../../docs/examples/hub-agent.mjs'), 'utf8').trimEnd()}\n\`\`\``,
    ...[...new Set(rows.map(({ path }) => tagOf(path)))].flatMap((tag) => [
      `## ${tag}`,
      table(
        ['request', 'what it does', 'fields of the body (? may be left out)', 'answer', 'query', 'roles'],
        rows
          .filter(({ path }) => tagOf(path) === tag)
          .map((row) => [
            code(row.name),
            plain(row.operation.about),
            row.operation.takesPieces ? 'the bytes' : fieldWords(bodyIn(row)),
            answerWords(row.operation.output),
            Object.keys(queryIn(row)).map(code).join(', '),
            rights[row.operation.right].roles.join(', '),
          ]),
      ),
    ]),
    '## Answers',
    'Times are milliseconds since 1970 by the clock of the ledger. A newer hub may send more fields.',
    ...Object.entries(namedShapes).flatMap(([name, shape]) => [`### ${name}`, shapeTable(shape.json('brief'))]),
    '## Answered by the server itself',
    table(
      ['request', 'what it does', 'answer', 'query', 'key'],
      serverRows.map(({ method, path, about, answer, query = {}, open }) => [
        code(`${method} ${path}`),
        plain(about),
        answer,
        Object.keys(query).map(code).join(', '),
        open ? 'none' : 'needed',
      ]),
    ),
  )
}

function fieldWords(body: JsonSchema | undefined): string {
  const required = (body?.required ?? []) as string[]
  return Object.keys(body?.properties ?? {})
    .map((name) => code(required.includes(name) ? name : `${name}?`))
    .join(', ')
}

/** An answer in the table of routes. */
function answerWords(answer: Shape<unknown>): string {
  if (answer === plainText) return 'plain text'
  if ('is' in answer)
    return 'no stable form: what the dashboard of the same version holds; programs use `/api/state` and `/api/tasks`'
  return typeWords(answer.json('brief'))
}

/** The type of a value in a few words, such as `Task[]`. */
function typeWords(schema: JsonSchema): string {
  const { $ref, type, items, enum: choices, anyOf, properties } = schema
  if (typeof $ref === 'string') return `[${$ref.split('/').at(-1)}](#${$ref.split('/').at(-1)!.toLowerCase()})`
  if (Array.isArray(anyOf)) return anyOf.map((each: JsonSchema) => typeWords(each)).join(' or ')
  if (Array.isArray(choices)) return choices.map((each) => code(String(each))).join(', ')
  if (type === 'array') return `list of ${typeWords(items as JsonSchema)}`
  if (type !== 'object') return typeof type === 'string' ? type : 'any value'
  return properties && Object.keys(properties).length > 0 ? `object: ${fieldWords(schema)}` : 'an empty object'
}

function shapeTable(schema: JsonSchema): string {
  const required = (schema.required ?? []) as string[]
  const rows = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  return table(
    ['field', 'type', 'meaning'],
    rows.map(([name, field]) => [
      code(required.includes(name) ? name : `${name}?`),
      typeWords(field),
      plain(String(field.description ?? '')),
    ]),
  )
}
