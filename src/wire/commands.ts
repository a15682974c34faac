import type { CommandShape } from './command-shape.ts'

const json = { json: { help: 'for programs' } }
const yes = { yes: { short: 'y', help: 'do not ask' } }

/** Every command beside the chat itself: one row each. */
export const commands: readonly CommandShape[] = [
  {
    name: 'setup',
    summary: 'Find the agent CLIs and models of this machine and write settings.json.',
    flags: { ...yes },
    examples: ['termaite setup', 'termaite setup --yes'],
  },
  {
    name: 'doctor',
    words: '[agent]',
    summary: 'Per agent: installed, version, logged in, answers, quota, what it may do; exit 1 if none works.',
    flags: {
      security: { help: 'what each agent may do, and who else can read our files' },
      quick: { help: 'ask no agent for an answer' },
      ...json,
    },
    examples: ['termaite doctor', 'termaite doctor claude', 'termaite doctor --security'],
  },
  {
    name: 'demo',
    summary: 'See a conversation survive a spent quota and a hang; no account, no network.',
    examples: ['termaite demo'],
  },
  {
    name: 'sessions',
    words: '[list|show <id>|search <words>|resume <id>|rename <id> <name>|export <id>]',
    summary: 'The conversations that were kept.',
    flags: {
      all: { help: 'of every project, not only this one' },
      format: { value: 'format', choices: ['markdown', 'json', 'jsonl'], help: 'of an export' },
      ...json,
    },
    examples: [
      'termaite sessions',
      'termaite sessions search "flaky test"',
      'termaite sessions export 01k --format markdown > talk.md',
    ],
  },
  {
    name: 'usage',
    summary:
      'Tokens and cost per agent, day and project; each number says whether it was reported, parsed or estimated.',
    flags: {
      by: { value: 'what', choices: ['agent', 'day', 'project'], help: 'what a row is' },
      since: { value: 'time', help: 'a date, or 7d, 12h' },
      all: { help: 'of every project, not only this one' },
      ...json,
    },
    examples: ['termaite usage', 'termaite usage --by day --since 7d --all'],
  },
  {
    name: 'audit',
    words: '[verify|export]',
    summary: 'What our own agent was allowed to do, and did; whether the record of it is whole.',
    examples: ['termaite audit', 'termaite audit verify', 'termaite audit export > audit.jsonl'],
  },
  {
    name: 'diff',
    words: '[turn]',
    summary: 'What a turn changed in the project, whoever took it.',
    flags: { stat: { help: 'only the files' }, list: { help: 'the turns that can be shown' }, ...json },
    examples: ['termaite diff', 'termaite diff --list'],
  },
  {
    name: 'undo',
    words: '[turn]',
    summary: 'Take back what a turn changed; asks first, and keeps what it takes back.',
    flags: { ...yes, ...json },
    examples: ['termaite undo', 'termaite undo --yes'],
  },
  {
    name: 'compact',
    summary: 'Summarise the oldest half of the conversation now.',
    flags: { session: { value: 'name', help: 'a named session' } },
    examples: ['termaite compact'],
  },
  {
    name: 'init',
    summary: 'Let an agent look through the project and write AGENTS.md; asks first, and keeps a copy of the old one.',
    flags: { ...yes },
    examples: ['termaite init', 'termaite init --yes'],
  },
  {
    name: 'config',
    words: '[path|print|validate|edit]',
    summary: 'The settings file: where it is, what it says, whether it is right.',
    flags: { ...json },
    examples: ['termaite config validate', 'termaite config edit'],
  },
  {
    name: 'where',
    summary: 'Every file, entry in another program, and process of ours.',
    flags: { ...json },
    examples: ['termaite where'],
  },
  {
    name: 'forget',
    words: '[project]',
    summary: 'Erase a project from logs, snapshots and index.',
    flags: { ...yes },
    examples: ['termaite forget', 'termaite forget ~/code/old --yes'],
  },
  {
    name: 'uninstall',
    summary: 'Take back what was written into other programs, and delete our own files.',
    flags: { ...yes, 'keep-history': { help: 'leave settings and conversations' } },
    examples: ['termaite uninstall'],
  },
  { name: 'ps', summary: 'The turns at work now.', flags: { ...json }, examples: ['termaite ps'] },
  {
    name: 'stop',
    words: '[id]',
    summary: 'Cancel a turn at work in any process.',
    flags: { all: { help: 'every one' } },
    examples: ['termaite stop 01kq', 'termaite stop --all'],
  },
  {
    name: 'mcp',
    words: '[serve|install <client>|remove <client>|list]',
    summary: 'Our crew as tools for any MCP client; wires a client, after showing what changes, and takes it back.',
    flags: {
      http: { value: '[host:]port', help: 'serve over HTTP on this machine, with a key' },
      cwd: { value: 'dir', help: 'where the agents run' },
      'dry-run': { help: 'show what would change, and change nothing' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite mcp install claude',
      'termaite mcp serve',
      'termaite mcp serve --http 3920',
      'termaite mcp remove claude',
    ],
  },
  {
    name: 'acp',
    summary: 'Our agents for an editor that speaks ACP (Zed, JetBrains, Neovim …), over stdin and stdout.',
    examples: ['termaite acp'],
  },
  {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'Words for the shell to complete.',
    examples: ['eval "$(termaite completion bash)"'],
  },
]
