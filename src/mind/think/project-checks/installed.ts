import type { SystemSpec } from '../../../core/work/system-spec.ts'

export const programOf = (command: string) => command.split(' ')[0]!

/** What each program needs that a look at the machine tells; of the others nobody knows, and they are tried. */
const needs: Readonly<Record<string, (spec: SystemSpec) => unknown>> = {
  npm: ({ runtimes }) => runtimes.node,
  pnpm: ({ binaries }) => binaries['pnpm'],
  yarn: ({ binaries }) => binaries['yarn'],
  bun: ({ binaries }) => binaries['bun'],
  deno: ({ binaries }) => binaries['deno'],
  make: ({ binaries }) => binaries['make'],
  cargo: ({ runtimes }) => runtimes.rust,
  go: ({ runtimes }) => runtimes.go,
  python3: ({ runtimes }) => runtimes.python,
  uv: ({ binaries }) => binaries['uv'],
  bundle: ({ runtimes }) => runtimes.ruby,
  composer: ({ binaries }) => binaries['php'],
  'vendor/bin/phpunit': ({ binaries }) => binaries['php'],
  mvn: ({ binaries }) => binaries['java'],
  './mvnw': ({ binaries }) => binaries['java'],
  gradle: ({ binaries }) => binaries['java'],
  './gradlew': ({ binaries }) => binaries['java'],
}

export function isInstalled(program: string, spec: SystemSpec): boolean {
  const need = needs[program]
  return need === undefined || need(spec) !== undefined
}
