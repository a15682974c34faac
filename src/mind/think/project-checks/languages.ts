import type { Kind } from './kind.ts'
import { firstOf, objectIn, wordsIn } from './kind.ts'
import { packageJson } from './package-json.ts'
import { python } from './python.ts'

const byFile = (path: string, ...commands: string[]): Kind => {
  return async (read) => ((await read(path)) === undefined ? [] : commands)
}

const cargo: Kind = async (read) => {
  const text = await read('Cargo.toml')
  const all = text !== undefined && /^\[workspace\]/m.test(text) ? ' --workspace' : ''
  return text === undefined ? [] : [`cargo build${all}`, `cargo test${all}`]
}

const composer: Kind = async (read) => {
  if (wordsIn(objectIn(await read('composer.json')), 'scripts')['test'] !== undefined) return ['composer test']
  return (await firstOf(read, 'phpunit.xml', 'phpunit.xml.dist')) === undefined ? [] : ['vendor/bin/phpunit']
}

const deno: Kind = async (read) => {
  const text = await firstOf(read, 'deno.json', 'deno.jsonc')
  if (text === undefined) return []
  return [wordsIn(objectIn(text), 'tasks')['test'] === undefined ? 'deno test' : 'deno task test']
}

const gradle: Kind = async (read) => {
  if ((await firstOf(read, 'build.gradle', 'build.gradle.kts')) === undefined) return []
  const program = (await read('gradlew')) === undefined ? 'gradle' : './gradlew'
  return [`${program} assemble`, `${program} test`]
}

const maven: Kind = async (read) => {
  if ((await read('pom.xml')) === undefined) return []
  const program = (await read('mvnw')) === undefined ? 'mvn' : './mvnw'
  return [`${program} compile`, `${program} test`]
}

/** Each language by the file that its projects have. */
export const languages: readonly Kind[] = [
  packageJson,
  deno,
  cargo,
  byFile('go.mod', 'go build ./...', 'go test ./...'),
  python,
  composer,
  byFile('.rspec', 'bundle exec rspec'),
  byFile('mix.exs', 'mix compile', 'mix test'),
  maven,
  gradle,
  byFile('Package.swift', 'swift build', 'swift test'),
]
