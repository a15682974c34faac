import type { Keys } from '../safety/keys.ts'
import type { Io } from './io.ts'

/** Where a provider's key is, never what it is: the variable's name, the keychain or the file; undefined without one. */
export async function keyPlace(
  keys: Keys,
  name: string,
  variables: readonly string[],
  env: Io['env'],
): Promise<string | undefined> {
  const found = await keys.get(name, variables)
  return found?.place === 'environment' ? variables.find((one) => env[one]) : found?.place
}
