/** The system's own place for secrets; every call may throw where there is none. */
export interface Keychain {
  get(name: string): string | undefined
  put(name: string, secret: string): void
  remove(name: string): void
}

/** Under this name the system shows our secrets to the person. */
const service = 'termaite'

/** The keychain of this machine, or undefined where none works: a server without a session has none. */
export async function systemKeychain(): Promise<Keychain | undefined> {
  try {
    const { Entry } = await import('@napi-rs/keyring')
    const entry = (name: string) => new Entry(service, name)
    // Asked once for something that is not there: one that does not work says so now.
    entry('probe').getPassword()
    return {
      get: (name) => entry(name).getPassword() ?? undefined,
      put: (name, secret) => entry(name).setPassword(secret),
      remove: (name) => void entry(name).deletePassword(),
    }
  } catch {
    return undefined
  }
}
