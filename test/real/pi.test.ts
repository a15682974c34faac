import { realTurns } from './turns.ts'

realTurns('pi', {
  act: { tool: 'write', input: { path: 'new.txt', content: 'new\n' } },
  denials: { edit: ['write: new.txt'], ask: ['write: new.txt'], read: ['write: new.txt'] },
  usage: { input: 1200, output: 34, cached: 1000, cost: 0.000368, source: 'reported' },
  busy: {
    kind: 'busy',
    message:
      'Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.',
  },
  auth: {
    kind: 'auth',
    message:
      'Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.',
  },
  spent: {
    trouble: 'quota',
    failure: {
      kind: 'quota',
      message:
        'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
    },
  },
})
