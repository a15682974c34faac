import type { CommandShape } from './command-shape.ts'
import { leashes } from '../core/work/agent.ts'

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
      'Tokens and cost per agent, day, project and way of thinking; each number says whether it was reported, parsed or estimated.',
    flags: {
      by: { value: 'what', choices: ['agent', 'day', 'project', 'framework'], help: 'what a row is' },
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
    name: 'system',
    summary: 'What this machine can do, as agents are told it; looked at again when it is older than a day.',
    flags: { refresh: { help: 'look again now' }, ...json },
    examples: ['termaite system', 'termaite system --refresh', 'termaite system --json'],
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
    name: 'crew',
    words:
      '[list|spawn <agent> [task…]|send <slot> <text…>|answer <slot> [option]|read <slot>|wait <slot…>|kill <slot>|attach <slot>|artifact <slot>|logs <slot>|close]',
    summary:
      'Agents side by side in terminals of their own: start them, talk to them, wait for them, chain them, end them.',
    flags: {
      workspace: { short: 'w', value: 'name', help: 'another crew than this project’s' },
      'depends-on': {
        value: 'slots',
        help: 'spawn: hold it until these are idle, as in 1,2; {{slot_1.output}} in the task is then the answer of 1',
      },
      'depends-on-timeout': { value: 'seconds', help: 'spawn: be held no longer (300)' },
      model: { value: 'model', help: 'spawn: in the words of its CLI' },
      leash: { value: 'level', choices: leashes, help: 'spawn: how much it may do' },
      'spawn-mode': { value: 'mode', choices: ['window', 'pane'], help: 'spawn: where its terminal opens' },
      worktree: { help: 'spawn: in a new git worktree from HEAD' },
      'worktree-name': { value: 'name', help: 'spawn: the same, named so' },
      lines: { value: 'n', help: 'read, wait: so many last lines' },
      clean: { help: 'read: without borders and empty space' },
      'since-last': { help: 'read: only what is new' },
      pattern: { value: 'regex', help: 'read: wait until it matches' },
      timeout: { value: 'seconds', help: 'read (30), wait (120)' },
      any: { help: 'wait: until one of them is idle, not all' },
      cwd: { value: 'dir', help: 'where it works' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite crew spawn claude "audit the code"',
      'termaite crew spawn gemini "sum up: {{slot_1.output}}" --depends-on 1',
      'termaite crew wait 2 && termaite crew artifact 2',
      'termaite crew answer 1 yes',
      'termaite crew attach 1',
    ],
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
    name: 'agent',
    summary: 'Keep one agent at work for hours: through crashes, silence and spent quotas, with tasks from the hub.',
    flags: {
      start: { value: 'cli', help: 'which agent: claude, gemini, … or one of the settings' },
      as: { value: 'workflow', help: '.agent/workflows/<workflow>.md, told to it first; orc otherwise' },
      resume: { help: 'go on with the latest session of this project' },
      slot: {
        value: 'number',
        help: 'in place of --start: an agent of the crew takes tasks of the hub, while this runs',
      },
      server: { value: 'url', help: 'the hub; http://localhost:3456 otherwise' },
      tmux: { help: 'in a window of tmux that goes on without us' },
      here: { help: 'in the project itself, not in a worktree of its own' },
      leash: { value: 'level', choices: leashes, help: 'how much it may do' },
      capability: {
        value: 'word',
        many: true,
        help: 'what else it can do, for tasks that ask for it; may be repeated',
      },
      'dry-run': { help: 'show what would be done, and do nothing' },
      ...yes,
    },
    examples: ['termaite agent --start=claude', 'termaite agent --start=gemini --as=orc', 'termaite agent --resume'],
  },
  {
    name: 'serve',
    summary: 'The hub: agents register here and take tasks; HTTP and MCP on this machine, with a key.',
    flags: {
      host: { value: 'address', help: 'of this machine alone; 127.0.0.1 otherwise' },
      port: { value: 'number', help: '3456 otherwise; 0 takes any free one' },
      'public-url': { value: 'url', help: 'the https address of a proxy in front of it' },
      'stdio-proxy': { help: 'for MCP clients that only speak stdio: passes on to the hub that runs' },
    },
    examples: ['termaite serve', 'termaite serve --port 4000', 'termaite serve --public-url https://hub.example'],
  },
  {
    name: 'task',
    words:
      '[add <prompt…>|list|show <id>|answer <id> <words…>|cancel <id>|retry <id>|approve <id>|reject <id> <words…>|comment <id> <words…>]',
    summary: 'The tasks of the hub: give one, look, answer, review.',
    flags: {
      workspace: { value: 'path', help: 'the project it is for; this one otherwise' },
      agent: { value: 'id', help: 'for this agent, as long as it is about' },
      capability: { value: 'word', many: true, help: 'what its agent must be able to do; may be repeated' },
      priority: { value: 'number', help: 'more goes first; 0 otherwise' },
      after: { value: 'id', many: true, help: 'only when that task is done; may be repeated' },
      all: { help: 'also those that are over' },
      ...json,
    },
    examples: [
      'termaite task add "make the flaky test in test/store steady"',
      'termaite task list',
      'termaite task answer 4kq2m8xz "the second one"',
      'termaite task approve 4kq2m8xz',
    ],
  },
  {
    name: 'report',
    summary: 'What the agents of the hub did since a time: work, diffs, failures, open questions, tokens.',
    flags: { since: { value: 'time', help: 'a date, or 7d, 12h; 24h otherwise' }, ...json },
    examples: ['termaite report', 'termaite report --since 12h'],
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
