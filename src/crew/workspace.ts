import { CrewError } from './error.ts'

/** A workspace's name is part of a path: letters, digits, ".", "_" and "-" of any script, not led by a dot. */
const allowed = /^(?!\.)[\p{L}\p{M}\p{N}._-]{1,120}$/u

export function workspaceNamed(name: string): string {
  if (!allowed.test(name))
    throw new CrewError(`workspace: found ${JSON.stringify(name)}, allowed: letters, digits, ".", "_" and "-".`)
  return name
}
