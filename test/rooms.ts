const wings = [
  'store',
  'safety',
  'terminals',
  'profiles',
  'models',
  'tools',
  'agents',
  'mind',
  'machine',
  'crew',
  'hub',
  'traces',
  'worktrees',
  'mcp-config',
  'languages',
]

/** The rooms of src, each with the rooms that it may import; the dot is for the files of src itself. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  base: [],
  core: ['base'],
  ...Object.fromEntries(wings.map((wing) => [wing, ['core', 'base']])),
  settings: ['base', 'core', ...wings],
  faces: ['base', 'core', 'crew', 'hub'],
  app: ['base', 'core', ...wings, 'settings', 'faces'],
  desk: ['base', 'core', ...wings, 'settings', 'faces', 'app'],
  cli: ['base', 'core', ...wings, 'settings', 'faces', 'app', 'desk'],
  '.': ['base', 'core', 'cli'],
}

/**
 * The parts of each folder that has subfolders, from below to above: a part may import the parts before it. The dot is for the
 * folder's own files. Parts in brackets do not import each other.
 */
export const folders: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  agents: [['.', 'native'], 'pipe', ['acp', 'screen']],
  app: [
    ['.', 'help'],
    ['belongings', 'import', 'init', 'memory', 'native'],
    'crew',
    ['attachments', 'copies', 'dashboard', 'mcp', 'offers'],
    ['doctor', 'hub', 'thinking'],
    ['commands', 'coordinator', 'link', 'race', 'review'],
    'supervision',
  ],
  base: ['.', 'process'],
  cli: [['.', 'agent', 'demo'], 'task', 'commands'],
  core: [['.', 'screen'], 'talk', 'work'],
  crew: ['.', 'tools', 'workers'],
  desk: ['crew', '.', 'slash'],
  faces: ['.', ['chat', 'mcp', 'wire'], ['link', 'peer'], ['acp', 'web'], 'attach', ['hub', 'watch']],
  'faces/chat': ['.', ['input', 'transcript'], 'cards', 'screen', 'board'],
  'faces/chat/transcript': ['markdown', '.', 'blocks'],
  'faces/hub': ['.', 'routes'],
  'faces/web': [['.', 'worker'], 'page'],
  'faces/web/page': [
    ['lists', 'words'],
    'hub',
    'frame',
    ['diff', 'terminals', 'usage'],
    ['inbox', 'review'],
    ['agents', 'talk', 'tasks'],
    '.',
  ],
  hub: ['.', 'tools'],
  mind: ['think', ['.', 'race'], ['rotation', 'supervise']],
  'mind/think': ['select', '.', 'consensus', ['decompose', 'reflect', 'script', 'sequential']],
  models: ['http', '.', ['clouds', 'wires']],
  profiles: ['shared', ['claude', 'codex', 'copilot', 'gemini'], 'qwen', '.'],
  safety: ['hooks', 'snapshots', '.', ['shell', 'wall'], ['rules', 'trust']],
  'safety/shell': ['.', 'programs'],
  store: ['.', 'files', ['index', 'ledgers']],
  'store/ledgers': ['.', ['postgres', 'sqlite']],
  terminals: ['.', ['pty', 'tmux']],
  tools: [['files', 'shell', 'web'], ['mcp', 'repl'], '.'],
}
