import type { CliCommand } from './cli-command.ts'
import { leashes } from '../core/work/agent.ts'
import { hubRoles } from '../core/work/hub-key.ts'
import { limitFlags, turnFlags } from './turn-flags.ts'
import * as prompt from './commands/prompt.ts'

/** `termaite` without a command. Its code is loaded at once, because most runs are turns. */
export const chatCommand: CliCommand = {
  name: 'termaite',
  words: '[prompt…]',
  summary: 'One terminal for every coding agent you have: one conversation per project that never stops.',
  flags: turnFlags,
  examples: [
    'termaite',
    'termaite "why does the build fail?" -a claude',
    'termaite -p "why does the build fail?"',
    'git diff | termaite -p "review this"',
    'termaite -p - --output-format json < prompt.txt',
  ],
  load: async () => prompt,
}

const json = { json: { help: 'print JSON' } }
const hubServer = { value: 'url', help: 'the address of the hub (default: the hub on this machine, at port 3456)' }
const session = { value: 'name', help: 'use the session with this name' }
const yes = { yes: { short: 'y', help: 'answer yes instead of asking' } }

/** Every other command: one row each. The help, the completion and the parser are made from these rows. */
export const commands: readonly CliCommand[] = [
  {
    name: 'setup',
    summary: 'Find the agent CLIs and models on this machine and write settings.json.',
    flags: { ...yes },
    examples: ['termaite setup', 'termaite setup --yes'],
    load: () => import('./commands/setup.ts'),
  },
  {
    name: 'doctor',
    words: '[agent]',
    summary:
      'Check each agent: is it installed and logged in, does it answer, is it out of quota, what may it do. Exits 1 if no agent works.',
    flags: {
      security: { help: 'show what each agent may do, and who else can read termaite’s files' },
      quick: { help: 'do not ask any agent for an answer' },
      ...json,
    },
    examples: ['termaite doctor', 'termaite doctor claude', 'termaite doctor --security'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'demo',
    summary: 'Watch a conversation survive a spent quota and a hanging agent. Needs no account and no network.',
    examples: ['termaite demo'],
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'sessions',
    words: '[list|show <id>|search <words>|resume <id>|rename <id> <name>|export <id>]',
    summary:
      'List, read, search, resume, rename and export past conversations. Those of the coordinator are marked; a search finds the words of its workers too.',
    flags: {
      all: { help: 'include every project' },
      format: { value: 'format', choices: ['markdown', 'json', 'jsonl'], help: 'with export: the file format' },
      ...json,
    },
    examples: [
      'termaite sessions',
      'termaite sessions search "flaky test"',
      'termaite sessions export 01k --format markdown > talk.md',
    ],
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'usage',
    summary:
      'Show tokens and cost by agent, day, project or thinking framework. Each number says whether it was reported, parsed or estimated.',
    flags: {
      by: { value: 'what', choices: ['agent', 'day', 'project', 'framework'], help: 'what each row is about' },
      since: { value: 'time', help: 'count from this date, or from an age such as 7d or 12h' },
      all: { help: 'include every project' },
      ...json,
    },
    examples: ['termaite usage', 'termaite usage --by day --since 7d --all'],
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'audit',
    words: '[verify|export]',
    summary:
      'Show what you allowed each agent to do, and what termaite’s own agent did. verify checks the record; it exits 0 if the record is complete, 3 if entries are missing, and 1 if somebody changed it.',
    flags: { ...json },
    examples: ['termaite audit', 'termaite audit verify', 'termaite audit export > audit.jsonl'],
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'diff',
    words: '[turn]',
    summary: 'Show which files a turn changed, and how.',
    flags: {
      stat: { help: 'show only the names of the files' },
      list: { help: 'list the turns with changes' },
      ...json,
    },
    examples: ['termaite diff', 'termaite diff --list'],
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'review',
    words: '[range]',
    summary:
      'Let an agent review changes without changing anything: the uncommitted ones, or those of a commit, a branch (main: since it was left) or a range (main..HEAD). Exits 0 when no finding is of severity high, 1 when one is or the review failed, 75 when no agent is free.',
    flags: {
      agent: {
        short: 'a',
        value: 'name|auto',
        help: 'the agent that reviews; one of another vendor than wrote the changes sees other faults',
      },
      focus: { value: 'text', help: 'what the reviewer should look at above all' },
      ...limitFlags,
      cwd: { value: 'dir', help: 'the folder of the project' },
      ...json,
    },
    examples: [
      'termaite review',
      'termaite review main -a codex',
      'termaite review main..HEAD --json > findings.json',
      'termaite review HEAD --focus "locking"',
    ],
    load: () => import('./commands/review.ts'),
  },
  {
    name: 'race',
    words: '<request…> | show [racer] | choose <racer>',
    summary:
      'Give one request to several agents at once, each in a copy of the project as it is now. The results are checked by the same commands, judged by an agent that does not know whose they are, and shown side by side; the one that you choose is brought into the project, and undo takes it back. Exits 0 when a result is right, 1 when none is, 75 when no agent is free.',
    flags: {
      agent: {
        short: 'a',
        value: 'names',
        help: 'the agents that race, for example claude,codex (default: all); an agent that is named twice races against itself',
      },
      check: {
        value: 'command',
        help: 'the command that shows whether a result works (default: the project’s own build and tests)',
      },
      first: { help: 'stop the other agents as soon as one result is right' },
      yes: { short: 'y', help: 'bring the best result into the project instead of asking' },
      ...limitFlags,
      cwd: { value: 'dir', help: 'the folder of the project' },
      ...json,
    },
    examples: [
      'termaite race "fix the failing test" -a claude,codex,native',
      'termaite race "fix the test" -a claude,codex --check "npm test" --first --yes',
      'termaite race show 2',
      'termaite race choose 2',
    ],
    load: () => import('./commands/race.ts'),
  },
  {
    name: 'undo',
    words: '[turn]',
    summary: 'Undo the changes of a turn. Asks first; run it again to redo them.',
    flags: { ...yes, ...json },
    examples: ['termaite undo', 'termaite undo --yes'],
    load: () => import('./commands/undo.ts'),
  },
  {
    name: 'good',
    words: '[why…]',
    summary:
      'Call the last answer in this project good. `termaite usage` and the rotation strategy "measured" count it.',
    flags: { session },
    examples: ['termaite good'],
    load: async () => (await import('./commands/thumb.ts')).good,
  },
  {
    name: 'bad',
    words: '[why…]',
    summary:
      'Call the last answer in this project bad. `termaite usage` and the rotation strategy "measured" count it.',
    flags: { session },
    examples: ['termaite bad', 'termaite bad the tests still fail'],
    load: async () => (await import('./commands/thumb.ts')).bad,
  },
  {
    name: 'compact',
    summary: 'Summarise the older half of the conversation now.',
    flags: {
      session,
      mode: {
        value: 'mode',
        choices: ['coordinator'],
        help: 'the conversation of the coordinator, which is kept apart',
      },
    },
    examples: ['termaite compact', 'termaite compact --mode coordinator'],
    load: () => import('./commands/compact.ts'),
  },
  {
    name: 'init',
    summary: 'Let an agent read the project and write AGENTS.md. Asks first, and keeps a copy of an existing file.',
    flags: { ...yes },
    examples: ['termaite init', 'termaite init --yes'],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'system',
    summary:
      'Show what is installed on this machine, as termaite tells its own agent. The machine is scanned again after a day.',
    flags: { refresh: { help: 'scan again now' }, ...json },
    examples: ['termaite system', 'termaite system --refresh', 'termaite system --json'],
    load: () => import('./commands/system.ts'),
  },
  {
    name: 'config',
    words: '[path|print|validate|edit]',
    summary: 'Find, print, check or edit the settings file.',
    flags: { ...json },
    examples: ['termaite config validate', 'termaite config edit'],
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'where',
    summary: 'List every file, worktree and process of termaite, and its entries in other programs’ settings.',
    flags: { ...json },
    examples: ['termaite where'],
    load: () => import('./commands/where.ts'),
  },
  {
    name: 'trust',
    words: '[path]',
    summary: 'Trust a folder: let its hooks, MCP servers, skills and settings be used until one of them changes.',
    flags: {
      ...yes,
      list: { help: 'list the trusted folders' },
      revoke: { help: 'stop trusting a folder' },
      ...json,
    },
    examples: ['termaite trust', 'termaite trust ~/code/shop --yes', 'termaite trust --revoke'],
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'forget',
    words: '[project]',
    summary: 'Erase the conversations, snapshots and index of a project. Its own files are not touched.',
    flags: { ...yes },
    examples: ['termaite forget', 'termaite forget ~/code/old --yes'],
    load: () => import('./commands/forget.ts'),
  },
  {
    name: 'uninstall',
    summary: 'Remove termaite’s entries from other programs’ settings, and delete its own files.',
    flags: { ...yes, 'keep-history': { help: 'keep settings and conversations' } },
    examples: ['termaite uninstall'],
    load: () => import('./commands/uninstall.ts'),
  },
  {
    name: 'ps',
    summary: 'List the running turns, and the running chats, agents, hubs and servers of termaite.',
    flags: { ...json },
    examples: ['termaite ps'],
    load: () => import('./commands/ps.ts'),
  },
  {
    name: 'stop',
    words: '[id|hub|<agent>|<pid>]',
    summary: 'Cancel a running turn, in whichever process it runs, or end the hub or another process that `ps` lists.',
    flags: { all: { help: 'cancel every running turn' } },
    examples: ['termaite stop 01kq', 'termaite stop hub', 'termaite stop --all'],
    load: () => import('./commands/stop.ts'),
  },
  {
    name: 'crew',
    words:
      '[list|watch|spawn <agent> [task…]|send <slot> <text…>|answer <slot> [option]|read <slot>|wait <slot…>|kill <slot>|attach <slot>|artifact <slot>|logs <slot>|close]',
    summary: 'Run agents side by side, each in its own terminal: start, prompt, wait for, chain and end them.',
    flags: {
      workspace: { short: 'w', value: 'name', help: 'use this crew instead of the project’s own' },
      'depends-on': {
        value: 'slots',
        help: 'spawn: start when these slots are idle, for example 1,2; {{slot_1.output}} in the task becomes the answer of slot 1',
      },
      'depends-on-timeout': { value: 'seconds', help: 'spawn: how long to wait for those slots (default 300)' },
      model: { value: 'model', help: 'spawn: the model, as the CLI names it' },
      leash: { value: 'level', choices: leashes, help: 'spawn: how much the agent may do' },
      'spawn-mode': { value: 'mode', choices: ['window', 'pane'], help: 'spawn: where the terminal opens' },
      worktree: { help: 'spawn: work in a new git worktree made from HEAD' },
      'worktree-name': { value: 'name', help: 'spawn: work in a new git worktree with this name' },
      lines: { value: 'n', help: 'read, wait: how many of the last lines to print' },
      clean: { help: 'read: leave out borders and empty space' },
      'since-last': { help: 'read: print only what is new since the last read' },
      pattern: { value: 'regex', help: 'read: wait until the output matches' },
      timeout: { value: 'seconds', help: 'read, wait: how long to wait (default 30 for read, 120 for wait)' },
      any: { help: 'wait: stop when one slot is idle instead of all' },
      cwd: { value: 'dir', help: 'the folder that the agent works in' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite crew spawn claude "audit the code"',
      'termaite crew spawn gemini "sum up: {{slot_1.output}}" --depends-on 1',
      'termaite crew wait 2 && termaite crew artifact 2',
      'termaite crew answer 1 yes',
      'termaite crew attach 1',
      'termaite crew watch',
    ],
    load: () => import('./commands/crew.ts'),
  },
  {
    name: 'mcp',
    words: '[serve|install <client>|remove <client>|list]',
    summary:
      'Let MCP clients run a crew: serve is the MCP server; install and remove edit a client’s settings, after showing you the change.',
    flags: {
      http: { value: '[host:]port', help: 'serve: use HTTP on this machine, with a key, instead of stdin and stdout' },
      cwd: { value: 'dir', help: 'the folder that agents work in' },
      'dry-run': { help: 'install, remove: show the change without making it' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite mcp install claude',
      'termaite mcp install claude-desktop --cwd ~/project',
      'termaite mcp serve',
      'termaite mcp serve --http 3920',
      'termaite mcp remove claude',
    ],
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'agent',
    summary: 'Keep one agent working for hours on tasks from the hub, through crashes, silence and spent quotas.',
    flags: {
      start: { value: 'cli', help: 'the agent: claude, gemini, … or one from the settings' },
      as: { value: 'workflow', help: 'the instructions to begin with: .agent/workflows/<workflow>.md (default orc)' },
      resume: { help: 'resume the latest session of this project' },
      slot: { value: 'number', help: 'instead of --start: give the hub’s tasks to the agent in this slot of the crew' },
      server: hubServer,
      tmux: { help: 'run the agent in a tmux window, which stays open when termaite ends' },
      here: { help: 'work in the project itself, not in a worktree' },
      leash: { value: 'level', choices: leashes, help: 'how much the agent may do' },
      capability: {
        value: 'word',
        many: true,
        help: 'something the agent can do, which tasks may ask for; repeatable',
      },
      'dry-run': { help: 'show the plan without starting anything' },
      ...yes,
    },
    examples: ['termaite agent --start=claude', 'termaite agent --start=gemini --as=orc', 'termaite agent --resume'],
    load: () => import('./commands/agent.ts'),
  },
  {
    name: 'serve',
    summary:
      'Run the hub, where agents register and take tasks. It serves HTTP and MCP on this machine, and every client needs a key.',
    flags: {
      host: { value: 'address', help: 'the loopback address to listen on (default 127.0.0.1)' },
      port: { value: 'number', help: 'the port to listen on (default 3456); 0 takes any free one' },
      'public-url': { value: 'url', help: 'the https address of the proxy in front of the hub' },
      'stdio-proxy': { help: 'connect an MCP client that only speaks stdio to the running hub' },
      server: { ...hubServer, help: `with --stdio-proxy: ${hubServer.help}` },
    },
    examples: ['termaite serve', 'termaite serve --port 4000', 'termaite serve --public-url https://hub.example'],
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'dashboard',
    summary:
      'Print a link to the page of the hub, which shows every agent and task in a browser; runs the hub if none runs.',
    flags: {
      'read-only': { help: 'make a link to share: it shows agents and tasks, and changes nothing' },
      session: { value: 'id', help: 'make a link to share that shows one session and nothing else' },
      hours: { value: 'number', help: 'how long a link to share lasts (default 24, at most 720)' },
      server: hubServer,
    },
    examples: ['termaite dashboard', 'termaite dashboard --read-only --hours 8'],
    load: () => import('./commands/dashboard.ts'),
  },
  {
    name: 'hub',
    words: '[keys [list|add <name>|rotate <name>|revoke <name>]]',
    summary: 'Give each client of the hub a key of its own. A new key is shown once; the hub keeps only its hash.',
    flags: {
      role: {
        value: 'role',
        choices: hubRoles,
        help: 'add: what the client may do (default agent). An observer reads; an agent works on tasks; a member adds, answers and approves tasks; an admin is a member who also changes keys',
      },
      server: hubServer,
      ...json,
    },
    examples: [
      'termaite hub keys',
      'termaite hub keys add build-server --role agent',
      'termaite hub keys add anna --role member',
      'termaite hub keys revoke anna',
    ],
    load: () => import('./commands/hub.ts'),
  },
  {
    name: 'task',
    words:
      '[add <prompt…>|list|show <id>|diff <id>|answer <id> <words…>|cancel <id>|retry <id>|approve <id> [--merge]|reject <id> <words…>|comment <id> <words…>]',
    summary: 'Add, list, answer and review the tasks of the hub.',
    flags: {
      server: hubServer,
      merge: { help: 'approve: merge the task’s branch into the branch you are on, after asking' },
      ...yes,
      workspace: { value: 'path', help: 'add: the folder of the project (default: this one)' },
      agent: { value: 'id', help: 'add: give the task to this agent while it is connected' },
      capability: { value: 'word', many: true, help: 'add: something the agent must be able to do; repeatable' },
      priority: { value: 'number', help: 'add: tasks with a higher number go first (default 0)' },
      after: { value: 'id', many: true, help: 'add: start only when this task is done; repeatable' },
      all: { help: 'list: include finished tasks' },
      ...json,
    },
    examples: [
      'termaite task add "make the flaky test in test/store steady"',
      'termaite task list',
      'termaite task answer 4kq2m8xz "the second one"',
      'termaite task approve 4kq2m8xz --merge',
    ],
    load: () => import('./commands/task.ts'),
  },
  {
    name: 'report',
    summary: 'Sum up what the hub’s agents did: finished work, diffs, failures, open questions, tokens.',
    flags: {
      since: { value: 'time', help: 'report from this date, or from an age such as 7d or 12h (default 24h)' },
      server: hubServer,
      ...json,
    },
    examples: ['termaite report', 'termaite report --since 12h'],
    load: () => import('./commands/report.ts'),
  },
  {
    name: 'acp',
    summary: 'Let an editor that speaks ACP (Zed, JetBrains, Neovim …) use termaite’s agents, over stdin and stdout.',
    examples: ['termaite acp'],
    load: () => import('./commands/acp.ts'),
  },
  {
    name: 'completion',
    words: '<bash|zsh|fish>',
    summary: 'Print a script that completes termaite’s commands and flags in your shell.',
    examples: ['eval "$(termaite completion bash)"'],
    load: () => import('./commands/completion.ts'),
  },
]
