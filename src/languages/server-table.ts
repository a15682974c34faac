import type { Language } from './language.ts'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Sends one request to a server and returns its answer. */
type Send = (method: string, params: unknown) => Promise<unknown>

/** A diagnostic in the protocol's form; only these fields are read. */
export type RawDiagnostic = {
  range?: { start?: { line?: number; character?: number } }
  severity?: number
  code?: unknown
  source?: unknown
  message?: unknown
}

/** Where a server was found, and whether the person agreed that programs of this project run. */
type ServerPlace = { program: string; agreed: boolean }

/** Everything known about one language server. */
export type LanguageServer = {
  name: string
  language: Language
  /** The language as people write it. */
  title: string
  /** The names of the server's program, the best one first. */
  programs: readonly string[]
  args: readonly string[]
  /** The endings of the language's files, and the name that the protocol has for the language. */
  files: Readonly<Record<string, string>>
  /** Files that describe a project of this language. */
  markers: readonly string[]
  /** Whether the server works in the nearest folder with a marker; otherwise one server finds all projects below the root by itself. */
  perMarker: boolean
  /** A file that is written when packages are installed: the server is then started again. */
  installed: readonly string[]
  /** How a person installs the server. */
  install: string
  /** Whether a program is really this server; without this check, every program of that name is accepted. */
  suits?(program: string): boolean
  /** The options with which the server is started. Undefined if they would run code of a project without the person's agreement. */
  options(place: ServerPlace): Record<string, unknown> | undefined
  /** The answer to questions about the editor's settings, by their section. */
  settings?: Readonly<Record<string, unknown>>
  /** Requests the errors of a file in the server's own way, if the protocol's ways do not show when they are complete. */
  ask?(send: Send, path: string): Promise<RawDiagnostic[]>
}

const typescriptFiles = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
}

const typescript = {
  language: 'typescript',
  title: 'TypeScript',
  files: typescriptFiles,
  markers: ['tsconfig.json', 'jsconfig.json', 'package.json'],
  perMarker: false,
  installed: ['node_modules/.package-lock.json', 'node_modules/.modules.yaml', 'node_modules/.yarn-state.yml'],
} as const

const python = {
  language: 'python',
  title: 'Python',
  files: { '.py': 'python', '.pyi': 'python' },
  markers: ['pyrightconfig.json', 'pyproject.toml', 'setup.cfg', 'setup.py', 'requirements.txt'],
  perMarker: true,
  installed: ['.venv/pyvenv.cfg', 'venv/pyvenv.cfg'],
} as const

/**
 * The options of a server that runs code of the project, such as its build scripts or its interpreter: undefined until the person agrees.
 */
const onlyAgreed =
  () =>
  ({ agreed }: ServerPlace) =>
    agreed ? {} : undefined

/** The known servers; for each language, the first installed one is used. */
export const languageServers: readonly LanguageServer[] = [
  {
    ...typescript,
    name: 'TypeScript 7',
    programs: ['tsc'],
    args: ['--lsp', '--stdio'],
    install: 'npm install --save-dev typescript (version 7 or later)',
    suits: (program) => majorOf(program, 'typescript') >= 7,
    // This server is one native program without plugins, so it needs no options.
    options: () => ({}),
  },
  {
    ...typescript,
    name: 'typescript-language-server',
    programs: ['typescript-language-server'],
    args: ['--stdio'],
    install: 'npm install --global typescript-language-server typescript',
    options({ program, agreed }) {
      const common = { hostInfo: 'termaite', disableAutomaticTypingAcquisition: true, maxTsServerMemory: 3072 }
      if (agreed) return common
      // The project's TypeScript is code of the project: until the person agrees, the one beside the server is used.
      const path = join(packageOf(program), '..', 'typescript', 'lib', 'tsserver.js')
      return existsSync(path) ? { ...common, tsserver: { path, useSyntaxServer: 'never' } } : undefined
    },
    ask: askTsserver,
  },
  {
    ...python,
    name: 'pyright',
    programs: ['pyright-langserver'],
    args: ['--stdio'],
    install: 'npm install --global pyright',
    options: onlyAgreed(),
  },
  {
    ...python,
    name: 'basedpyright',
    programs: ['basedpyright-langserver'],
    args: ['--stdio'],
    install: 'npm install --global basedpyright',
    options: onlyAgreed(),
  },
  {
    ...python,
    name: 'pylsp',
    programs: ['pylsp'],
    args: [],
    install: 'pipx install python-lsp-server',
    options: onlyAgreed(),
  },
  {
    ...python,
    name: 'ruff',
    programs: ['ruff'],
    args: ['server'],
    install: 'pipx install ruff',
    options: () => ({}),
  },
  {
    language: 'go',
    title: 'Go',
    name: 'gopls',
    programs: ['gopls'],
    args: [],
    files: { '.go': 'go' },
    markers: ['go.work', 'go.mod'],
    perMarker: true,
    installed: [],
    install: 'go install golang.org/x/tools/gopls@latest',
    options: () => ({ pullDiagnostics: true }),
    settings: { gopls: { pullDiagnostics: true } },
  },
  {
    language: 'rust',
    title: 'Rust',
    name: 'rust-analyzer',
    programs: ['rust-analyzer'],
    args: [],
    files: { '.rs': 'rust' },
    markers: ['Cargo.toml', 'rust-project.json'],
    perMarker: true,
    installed: [],
    install: 'rustup component add rust-analyzer',
    options: onlyAgreed(),
  },
]

/** The servers for a file, the best one first. */
export function serversFor(path: string): LanguageServer[] {
  const ending = /\.[^./]+$/.exec(path)?.[0] ?? ''
  return languageServers.filter(({ files }) => Object.hasOwn(files, ending))
}

export const languageIdOf = ({ files }: LanguageServer, path: string) => files[/\.[^./]+$/.exec(path)?.[0] ?? '']!

/** The folder of the npm package that a program belongs to. */
function packageOf(program: string): string {
  let folder: string
  try {
    folder = dirname(realpathSync(program))
  } catch {
    return '/nonexistent'
  }
  while (folder !== '/' && !existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

/** The major version of the npm package that a program belongs to; 0 if it belongs to a different package. */
function majorOf(program: string, name: string): number {
  try {
    const said = JSON.parse(readFileSync(join(packageOf(program), 'package.json'), 'utf8')) as Record<string, unknown>
    return said.name === name ? Number.parseInt(String(said.version), 10) || 0 : 0
  } catch {
    return 0
  }
}

/**
 * Asks tsserver itself. The server publishes nothing for a file without errors before and after, and it publishes syntax errors before
 * the others, so its notifications never show whether they are complete.
 */
async function askTsserver(send: Send, path: string): Promise<RawDiagnostic[]> {
  const one = async (command: string) => {
    const answer = await send('workspace/executeCommand', {
      command: 'typescript.tsserverRequest',
      arguments: [command, { file: path }],
    })
    const { body } = (answer ?? {}) as { body?: unknown }
    return Array.isArray(body) ? (body as TsDiagnostic[]) : []
  }
  const found = await Promise.all(['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'].map(one))
  return found.flat().map(({ start, text, code, category }) => ({
    range: { start: { line: (start?.line ?? 1) - 1, character: (start?.offset ?? 1) - 1 } },
    severity: category === 'error' ? 1 : category === 'warning' ? 2 : 3,
    code,
    source: 'ts',
    message: text,
  }))
}

type TsDiagnostic = { start?: { line?: number; offset?: number }; text?: unknown; code?: unknown; category?: unknown }
