/**
 * A language server that speaks the protocol over its standard input and output, without any library. Its language has errors
 * that tests can write: a line `error <words>` is one, `warning <words>` is a warning, and `uses <name>` is an error unless
 * an open file or a file on the disk has a line `defines <name>`. How it behaves is said by a JSON file beside its program.
 */
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Behaviour = {
  /** How errors are told: by answering questions, or by publishing them with or without the file's version. */
  tells?: 'pull' | 'push' | 'plain push'
  /** The fault of the server, and when it begins. */
  fault?:
    | 'mute' // never answers to `initialize`
    | 'silent' // never tells errors
    | 'dies' // ends when a file changes
    | 'stillborn' // ends at once
    | 'floods' // publishes without an end when a file changes
    | 'garbage' // writes text that is not of the protocol when a file changes
    | 'huge' // begins a message that never ends
    | 'deaf' // stops reading its input
    | 'interrupted' // answers the first questions with ContentModified
  /** Asks its editor everything that servers ask, and tells errors only after the answers. */
  asks?: boolean
  /** Holds the errors back until this file exists. */
  holdsUntil?: string
  /** Tries to break out, and tells how that went as errors. */
  spies?: { read: string; write: string[]; port: number }
}

type Json = Record<string, any>

const behaviour = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Behaviour
const journal = join(dirname(process.argv[2]!), 'journal')
const note = (line: string) => {
  try {
    appendFileSync(journal, `${line}\n`)
  } catch {
    // Behind a wall nothing can be written here.
  }
}

if (behaviour.fault === 'stillborn') {
  process.stderr.write('\x1b[31mno licence\x1b[0m\n')
  process.exit(3)
}

const files = new Map<string, { version: number; text: string }>()
let root = ''
let questions = 0
const answers = new Map<number, (answer: Json) => void>()
let refusals = behaviour.fault === 'interrupted' ? 2 : 0

function send(message: Json): void {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`)
  process.stdout.write(body)
}

const drained = () => new Promise<void>((resolve) => process.stdout.once('drain', () => resolve()))

function ask(method: string, params: Json): Promise<Json> {
  const id = ++questions
  send({ id, method, params })
  return new Promise((resolve) => answers.set(id, resolve))
}

const linesOf = (text: string) => text.split('\n')

function definitions(): Set<string> {
  const texts = [...files.values()].map(({ text }) => text)
  for (const name of readdirSync(root))
    if (name.endsWith('.go') && !files.has(`file://${join(root, name)}`))
      texts.push(readFileSync(join(root, name), 'utf8'))
  return new Set(texts.flatMap((text) => linesOf(text).flatMap((line) => /^defines (\w+)/.exec(line)?.[1] ?? [])))
}

function diagnosticsOf(uri: string): Json[] {
  const known = definitions()
  const found = linesOf(files.get(uri)?.text ?? '').flatMap((line, at) => {
    const [, kind, words = ''] = /^(error|warning|uses) (.*)/.exec(line) ?? []
    if (kind === undefined || (kind === 'uses' && known.has(words))) return []
    const message = kind === 'uses' ? `${words} is not defined` : words.replaceAll('\\e', '\x1b')
    const range = { start: { line: at, character: 0 }, end: { line: at, character: line.length } }
    return [{ range, severity: kind === 'warning' ? 2 : 1, source: 'scripted', code: kind, message }]
  })
  return [...found, ...spied.map((message, line) => ({ range: { start: { line, character: 0 } }, message }))]
}

let spied: string[] = []

/** Tries everything that a harmful program would try. */
async function spy({ read, write, port }: NonNullable<Behaviour['spies']>): Promise<string[]> {
  const tried = (what: string, act: () => unknown) => {
    try {
      act()
      return `${what}: done`
    } catch (error) {
      return `${what}: ${(error as NodeJS.ErrnoException).code}`
    }
  }
  const reached = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve('done')).on('error', (error) => resolve((error as NodeJS.ErrnoException).code!))
  })
  return [
    tried('read a key', () => readFileSync(read)),
    ...write.map((path, at) => tried(`write ${at}`, () => writeFileSync(path, 'x'))),
    `network: ${reached}`,
    `keys: ${Object.keys(process.env)
      .filter((name) => /KEY|TOKEN|SECRET/.test(name))
      .join(' ')}`,
  ]
}

async function tell(): Promise<void> {
  if (behaviour.tells === 'pull' || behaviour.fault === 'silent') return
  await held()
  for (const [uri, { version }] of files) {
    const params: Json = { uri, diagnostics: diagnosticsOf(uri) }
    if (behaviour.tells === 'push') params.version = version
    send({ method: 'textDocument/publishDiagnostics', params })
  }
}

async function held(): Promise<void> {
  while (behaviour.holdsUntil !== undefined && !existsSync(behaviour.holdsUntil))
    await new Promise((resolve) => setTimeout(resolve, 5))
}

async function interrogate(): Promise<void> {
  const given = await Promise.all([
    ask('workspace/configuration', { items: [{ section: 'gopls' }, { section: 'other' }] }),
    ask('client/registerCapability', { registrations: [{ id: 'x', method: 'workspace/didChangeWatchedFiles' }] }),
    ask('window/workDoneProgress/create', { token: 't' }),
    ask('workspace/applyEdit', { edit: { changes: {} } }),
    ask('window/showMessageRequest', { type: 1, message: 'Really?', actions: [{ title: 'Yes' }] }),
    ask('window/showDocument', { uri: 'https://example.invalid/' }),
    ask('workspace/diagnostic/refresh', {}),
    ask('workspace/workspaceFolders', {}),
    ask('unheard/of', {}),
  ])
  note(JSON.stringify(given.map(({ result, error }) => (error ? { error } : result))))
}

function misbehave(): boolean {
  switch (behaviour.fault) {
    case 'dies':
      process.stderr.write('panic: out of cheese\n')
      process.exit(2)
    case 'garbage':
      process.stdout.write('Hello! I am not JSON.\r\n\r\nContent-Length: many\r\n\r\n{{{')
      return true
    case 'huge':
      process.stdout.write(`Content-Length: 99999999999\r\n\r\n`)
      void (async () => {
        const chunk = Buffer.alloc(1 << 20, 'x')
        for (;;) if (!process.stdout.write(chunk)) await drained()
      })()
      return true
    case 'floods': {
      const uri = [...files.keys()][0]
      void (async () => {
        for (let at = 0; ; at++) {
          send({ method: 'textDocument/publishDiagnostics', params: { uri: `${uri}${at}`, diagnostics: [] } })
          if (process.stdout.writableNeedDrain) await drained()
        }
      })()
      return true
    }
    case 'deaf':
      process.stdin.pause()
      return true
    default:
      return false
  }
}

async function take({ id, method, params, result, error }: Json): Promise<void> {
  if (method === undefined) return answers.get(id)?.({ result, error })
  switch (method) {
    case 'initialize': {
      if (behaviour.fault === 'mute') return
      note(`initialize ${params.processId} ${process.pid}`)
      root = fileURLToPath(params.rootUri)
      if (behaviour.spies) spied = await spy(behaviour.spies)
      const provider = behaviour.tells === 'pull' ? { diagnosticProvider: { interFileDependencies: true } } : {}
      const capabilities = { textDocumentSync: 1, ...provider }
      return send({ id, result: { capabilities, serverInfo: { name: 'scripted\x1b[1m', version: '1' } } })
    }
    case 'initialized':
      return behaviour.asks ? interrogate() : undefined
    case 'textDocument/didOpen': {
      const { uri, version, text } = params.textDocument
      note(`open ${uri.split('/').at(-1)} ${version} ${params.textDocument.languageId}`)
      files.set(uri, { version, text })
      return tell()
    }
    case 'textDocument/didChange': {
      if (misbehave()) return
      const { uri, version } = params.textDocument
      note(`change ${uri.split('/').at(-1)} ${version}`)
      files.set(uri, { version, text: params.contentChanges[0].text })
      return tell()
    }
    case 'textDocument/didClose':
      note(`close ${params.textDocument.uri.split('/').at(-1)}`)
      files.delete(params.textDocument.uri)
      return
    case 'workspace/didChangeWatchedFiles':
      for (const { uri, type } of params.changes) note(`watched ${uri.split('/').at(-1)} ${type}`)
      return
    case 'textDocument/diagnostic':
      if (behaviour.fault === 'silent') return
      await held()
      if (refusals-- > 0) return send({ id, error: { code: -32801, message: 'content modified' } })
      return send({ id, result: { kind: 'full', items: diagnosticsOf(params.textDocument.uri) } })
    case 'shutdown':
      return send({ id, result: null })
    case 'exit':
      note('exit')
      process.exit(0)
    // Only the end of the process follows.
    default:
      if (id !== undefined) send({ id, error: { code: -32601, message: `unknown method ${method}` } })
  }
}

let rest = Buffer.alloc(0)
process.stdin.on('data', (chunk: Buffer) => {
  rest = Buffer.concat([rest, chunk])
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, end).toString())![1])
    if (rest.length < end + 4 + length) return
    const message = JSON.parse(rest.subarray(end + 4, end + 4 + length).toString()) as Json
    rest = rest.subarray(end + 4 + length)
    void take(message)
  }
})
process.stdin.on('end', () => process.exit(0))
