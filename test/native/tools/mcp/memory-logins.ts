import type { LoginStore } from '../../../../src/native/tools/mcp/server-login.ts'

/** Keeps logins until the process ends. */
export function secretsInMemory(): LoginStore {
  const kept = new Map<string, string>()
  return {
    read: async (name) => kept.get(name),
    async write(name, value) {
      kept.set(name, value)
    },
  }
}
