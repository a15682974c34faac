import { realTurns } from './turns.ts'

realTurns('gemini', {
  act: { tool: 'write_file', input: { file_path: 'new.txt', content: 'new\n' } },
  denials: ['write_file: new.txt'],
  usage: { input: 1200, output: 34, cached: 1000, source: 'reported' },
  busy: { kind: 'busy', message: 'Resource has been exhausted (e.g. check quota).' },
  auth: { kind: 'auth', message: 'API key not valid. Please pass a valid API key.' },
  spent: {
    trouble: 'quota',
    failure: { kind: 'quota', message: 'You have exhausted your daily quota on this model.' },
  },
})
