import { realTurns } from './turns.ts'

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\nEOF"

realTurns('codex', {
  act: { tool: 'exec_command', input: { cmd: patch } },
  denials: {
    ask: ['file_change: new.txt'],
    read: ['patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings'],
  },
  usage: { input: 1200, output: 34, cached: 1000, source: 'reported' },
  busy: { kind: 'busy', message: 'exceeded retry limit, last status: 429 Too Many Requests' },
  auth: {
    kind: 'auth',
    message:
      'unexpected status 401 Unauthorized: Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys., url: http://MODEL/v1/responses',
  },
  spent: {
    trouble: 'quota',
    failure: { kind: 'quota', message: 'Quota exceeded. Check your plan and billing details.' },
  },
})
