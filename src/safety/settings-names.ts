/**
 * The one table of names by which file tools, the sandbox and the trust in a folder recognize the files of a project from which programs
 * could start by themselves: the next agent, an editor or git reads them, and nobody is asked again. Every name that begins with a dot
 * counts as one unless a row says otherwise. All names are in lower case, because some file systems ignore the case of names.
 * The project's own programs (package scripts, makefiles, sources) are started by a person or a rule and are free. Instructions such as
 * AGENTS.md are only text.
 */

/** Settings of agents and editors. A command can never change these, and new ones count at any depth of every folder. */
const held: readonly (readonly [name: string, reason: string])[] = [
  ['.termaite', 'hooks, MCP servers and settings of termaite'],
  ['.mcp.json', 'MCP servers of Claude Code and others'],
  ['termaite.mcp.yaml', 'MCP servers of termaite'],
  ['terminus.mcp.yaml', 'MCP servers of termaite'],
  ['.agents', 'skills and plugins that several agents share'],
  ['.claude', 'hooks, MCP servers, skills and permissions of Claude Code'],
  ['.claude-plugin', 'hooks and MCP servers of a plugin for Claude Code'],
  ['.codex', 'MCP servers, notifiers and settings of Codex'],
  ['.gemini', 'MCP servers, hooks and extensions of Gemini CLI'],
  ['.qwen', 'MCP servers and hooks of Qwen Code'],
  ['.opencode', 'plugins, tools and agents of OpenCode'],
  ['opencode.json', 'MCP servers and formatters of OpenCode'],
  ['opencode.jsonc', 'MCP servers and formatters of OpenCode'],
  ['.copilot', 'MCP servers and agents of Copilot CLI'],
  ['.cursor', 'MCP servers and hooks of Cursor'],
  ['.windsurf', 'workflows and hooks of Windsurf'],
  ['.kiro', 'hooks and MCP servers of Kiro'],
  ['.roo', 'MCP servers of Roo Code'],
  ['.kilocode', 'MCP servers of Kilo Code'],
  ['.clinerules', 'hooks and workflows of Cline'],
  ['.continue', 'MCP servers of Continue'],
  ['.factory', 'hooks and MCP servers of Factory'],
  ['.augment', 'hooks and MCP servers of Augment'],
  ['.amp', 'MCP servers and permissions of Amp'],
  ['.goose', 'extensions and recipes of Goose'],
  ['.crush', 'settings of Crush'],
  ['.crush.json', 'MCP servers and language servers of Crush'],
  ['crush.json', 'MCP servers and language servers of Crush'],
  ['.aider.conf.yml', 'commands of Aider for tests and linting'],
  ['.pi', 'extensions and hooks of pi'],
  ['.vscode', 'tasks that start when VS Code opens the folder'],
  ['.idea', 'run configurations and startup tasks of JetBrains'],
  ['.fleet', 'run configurations of Fleet'],
  ['.zed', 'tasks and language servers of Zed'],
  ['.helix', 'language servers of Helix'],
  ['.nvim.lua', 'code that Neovim runs in a trusted folder'],
  ['.nvimrc', 'code that Neovim runs in a trusted folder'],
  ['.exrc', 'code that Vim runs when it opens the folder'],
  ['.vimrc', 'code that Vim runs when it opens the folder'],
  ['.dir-locals.el', 'code that Emacs runs for files of the folder'],
  ['.devcontainer', 'commands that an editor runs on the host before a container starts'],
  ['.devcontainer.json', 'commands that an editor runs on the host before a container starts'],
]

/** Settings, hooks and servers that CLIs read in a project: a CLI only uses the version that the person trusted. */
export const cliSettings: Readonly<Record<string, string>> = {
  '.codex': 'settings, hooks and MCP servers of Codex',
  '.gemini': 'settings, hooks and MCP servers of Gemini CLI',
  '.qwen': 'settings, hooks and MCP servers of Qwen Code',
  '.opencode': 'plugins, tools and agents of OpenCode',
  'opencode.json': 'settings and MCP servers of OpenCode',
  'opencode.jsonc': 'settings and MCP servers of OpenCode',
  '.github/hooks': 'hooks of Copilot CLI',
  '.github/copilot': 'settings and hooks of Copilot CLI',
  '.github/mcp.json': 'MCP servers of Copilot CLI',
  '.github/agents': 'agents of Copilot CLI',
  '.cursor': 'hooks and MCP servers of Cursor',
  '.pi': 'extensions and hooks of pi',
  '.clinerules': 'hooks and workflows of Cline',
  '.amp': 'settings and MCP servers of Amp',
  '.crush.json': 'servers of Crush',
  'crush.json': 'servers of Crush',
  '.aider.conf.yml': 'commands of Aider',
}

/**
 * Dot files that only tell a tool which files, versions or formats to use, and leftovers of tools. These are missing here because they
 * can name a program: `.prettierrc` (plugins), `.tool-versions` and `.python-version` (a path), `.bazelversion` (a fork).
 */
const harmless: ReadonlySet<string> = new Set([
  ...['.gitattributes', '.gitkeep', '.keep', '.mailmap', '.editorconfig', '.nojekyll', '.ds_store', '.placeholder'],
  ...['.markdownlint.json', '.markdownlint.jsonc', '.markdownlint.yaml', '.markdownlint.yml', '.yamllint'],
  ...['.clang-format', '.clang-tidy', '.rustfmt.toml', '.scalafmt.conf', '.swift-format', '.browserslistrc'],
  ...['.nvmrc', '.node-version', '.ruby-version', '.java-version', '.go-version', '.swift-version'],
  ...['.terraform-version', '.sdkmanrc'],
  ...['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.default', '.env.defaults'],
  ...['.terraform.lock.hcl', '.package-lock.json', '.well-known', '.codespellrc'],
  ...['.coverage', '.eslintcache', '.stylelintcache', '.prettiercache', '.tsbuildinfo', '.phpunit.result.cache'],
  ...['.rspec_status', '.lycheecache', '.flutter-plugins', '.flutter-plugins-dependencies', '.last-run.json'],
  // Sources of a project that only a command of the project runs, like a makefile.
  ...['.changeset', '.vitepress', '.vuepress', '.storybook', '.pnp.cjs', '.pnp.loader.mjs'],
])

/** More names of harmless files: lists of files to ignore, and the data of one run of a tool. */
const harmlessForms: readonly RegExp[] = [/^\.[a-z]+ignore$/, /^\.coverage\..+$/, /^\.nfs[0-9a-f]+$/]

/** Files without a dot that an editor reads as its settings, and files from which a shell or git starts programs by itself. */
const askedForms: readonly RegExp[] = [
  /\.code-workspace$/,
  /^mise(?:\.[\w-]+)*\.toml$/,
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
]

/**
 * Folders that belong entirely to builders and package managers. Dot files in them are free; repositories, and the settings of agents and
 * editors, are found in them at any depth.
 */
const built: ReadonlySet<string> = new Set([
  ...['node_modules', 'bower_components', 'jspm_packages', '.yarn', '.pnpm-store', '.npm', '.bun', '.deno'],
  ...['.venv', 'venv', 'env', '__pycache__', '__pypackages__', 'site-packages', '.eggs', '.tox', '.nox'],
  ...['.pytest_cache', '.mypy_cache', '.ruff_cache', '.pytype', '.hypothesis', '.ipynb_checkpoints', 'htmlcov'],
  ...['.next', '.nuxt', '.output', '.svelte-kit', '.astro', '.vite', '.angular', '.expo', '.docusaurus', '.cache'],
  ...['.turbo', '.nx', '.swc', '.parcel-cache', '.rollup.cache', '.sass-cache', '.jekyll-cache', '.nyc_output'],
  ...['.wrangler', '.vercel', '.netlify', '.serverless', '.aws-sam', '.terraform', '.vscode-test', '.temp', '.tmp'],
  ...['.gradle', '.kotlin', '.cxx', '.externalnativebuild', '.dart_tool', '.pub-cache', '.build', '.swiftpm'],
  ...['.stack-work', '.spago', '.lake', '.zig-cache', '.elixir_ls', '.bloop', '.metals', '.ccls-cache'],
  ...['target', 'build', 'dist', 'out', 'coverage', 'vendor', '_build', 'obj', 'pods', 'deriveddata', 'elm-stuff'],
  ...['zig-out', 'storybook-static', 'test-results', 'playwright-report', 'blob-report', '.playwright', '.benchmarks'],
])

/** Names that no command may change, wherever they are. */
export const heldNames: readonly string[] = held.map(([name]) => name)

const heldSet = new Set(heldNames)

/**
 * The kind of folder around a name: one of the project's own, one that belongs to a builder (`built`), one of settings (`asked`), or one
 * that is `held` as a whole and needs no further check.
 */
export type Zone = 'project' | 'built' | 'asked' | 'held'

/**
 * The treatment of a name in a zone: a setting that stays protected (`held`), a setting that needs a question (`asked`), or neither
 * (`free`); and the zone below the name.
 */
type NamedKind = { kind: 'held' | 'asked' | 'free'; below: Zone }

export function namedKind(written: string, zone: Zone, isFolder: boolean): NamedKind {
  const name = written.toLowerCase()
  if (zone === 'held') return { kind: 'free', below: 'held' }
  if (heldSet.has(name)) return { kind: 'held', below: 'held' }
  if (zone === 'built' || (isFolder && built.has(name))) return { kind: 'free', below: 'built' }
  if (harmless.has(name) || harmlessForms.some((form) => form.test(name))) return { kind: 'free', below: zone }
  const isAsked = zone === 'asked' || name.startsWith('.') || askedForms.some((form) => form.test(name))
  return isAsked ? { kind: 'asked', below: 'asked' } : { kind: 'free', below: 'project' }
}

/** How a file counts, by the parts of its path in the project; `at` is how many of these lead to the setting. */
export function fileKind(parts: readonly string[]): { kind: NamedKind['kind']; at: number; inBuilt: boolean } {
  let zone: Zone = 'project'
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const { kind, below } = namedKind(part, zone, !isLast)
    if (kind === 'held' || (kind === 'asked' && isLast)) return { kind, at: index + 1, inBuilt: zone === 'built' }
    zone = below
  }
  return { kind: 'free', at: parts.length, inBuilt: zone === 'built' }
}

/** Whether a change of a file, by its path in the project, could make a program start by itself later. */
export const isAskedAbout = (path: string) => fileKind(path.split(/[\\/]/)).kind !== 'free'
