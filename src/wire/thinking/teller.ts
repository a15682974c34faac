import type { Settings } from '../settings/settings.ts'
import { enabledAgents } from '../settings/enabled.ts'

/** Who names a framework for the least: our own agent sends one short request, where a CLI starts a program and its whole frame. */
export function teller(settings: Settings, readers: readonly string[]): string {
  const own = new Set(enabledAgents(settings).flatMap(({ name, kind }) => (kind === 'native' ? [name] : [])))
  return readers.find((name) => own.has(name)) ?? readers[0]!
}
