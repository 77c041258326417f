import { didYouMean } from './did-you-mean.ts';
import {
  MOST_TESTS,
  PRESET_NAMES,
  PRESETS,
  type PresetName,
  qualityFlowSchema,
  selectSchema,
  zeroShotSchema,
} from './schema.ts';
import type { QualityFlowOptions, SelectOptions, Strategy } from './spec.ts';
import { describeIssues, type SpecProblem, shown } from './spec-problem.ts';

const KINDS: readonly Strategy['kind'][] = ['quality-flow', 'zero-shot', 'select'];
const KINDS_TOLD = 'quality-flow, zero-shot or select';

export type ParsedStrategy = { kind: 'strategy'; strategy: Strategy } | { kind: 'problems'; problems: SpecProblem[] };

/**
 * Reads `strategy`: a preset's name, `{ preset, …options }` or `{ kind, …options }`. An option set beside a preset wins over it.
 * The rules between options are those of algorithms 1.6 A, O and P.
 */
export function parseStrategy(raw: unknown): ParsedStrategy {
  const expanded = expandPreset(raw);
  if ('problems' in expanded) return { kind: 'problems', problems: expanded.problems };
  const { fields } = expanded;

  if (fields.kind === 'zero-shot') {
    const parsed = zeroShotSchema.safeParse(fields);
    if (parsed.success) return { kind: 'strategy', strategy: parsed.data };
    const options = Object.keys(fields).filter((key) => key !== 'kind');
    return {
      kind: 'problems',
      problems: options.map((key) => ({
        path: `strategy.${key}`,
        message: 'is not an option here; zero-shot has none',
      })),
    };
  }
  if (fields.kind === 'select') return parseSelect(fields);
  const parsed = qualityFlowSchema.safeParse(fields);
  if (!parsed.success) {
    const keys = ['preset', ...Object.keys(qualityFlowSchema.shape)];
    return {
      kind: 'problems',
      problems: describeIssues({ issues: parsed.error.issues, value: fields, path: ['strategy'], keys }),
    };
  }
  const problems = rulesBetweenOptions(parsed.data);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'strategy', strategy: parsed.data };
}

function parseSelect(fields: Record<string, unknown>): ParsedStrategy {
  const parsed = selectSchema.safeParse(fields);
  if (!parsed.success) {
    const keys = ['preset', ...Object.keys(selectSchema.shape)];
    const { issues } = parsed.error;
    const problems = describeIssues({
      issues,
      value: fields,
      path: ['strategy'],
      keys,
      nested: { tests: ['queries', 'perQuery'] },
    });
    return { kind: 'problems', problems };
  }
  const problems = rulesOfSelect(parsed.data);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'strategy', strategy: parsed.data };
}

function rulesOfSelect({ tests }: SelectOptions): SpecProblem[] {
  const asked = tests.queries * tests.perQuery;
  if (asked <= MOST_TESTS) return [];
  const message = `must ask for at most ${MOST_TESTS} tests, and ${tests.queries} queries of ${tests.perQuery} ask for ${asked}`;
  return [{ path: 'strategy.tests', message }];
}

function rulesBetweenOptions(options: QualityFlowOptions): SpecProblem[] {
  if (options.onRevert === 'aces' && !options.revert) {
    return [{ path: 'strategy.onRevert', message: 'must be first with revert: false, since nothing is reverted then' }];
  }
  if (options.checker === 'none' && options.revert) {
    return [
      {
        path: 'strategy.revert',
        message: 'must be false with checker: none, since without a checker nothing is ever rejected',
      },
    ];
  }
  return [];
}

function expandPreset(raw: unknown): { fields: Record<string, unknown> } | { problems: SpecProblem[] } {
  if (raw === undefined)
    return problem(
      'strategy',
      `is missing: it must be one of ${PRESET_NAMES.join(', ')}, or a mapping with kind or preset`,
    );
  if (typeof raw === 'string') {
    return isPreset(raw) ? { fields: { ...PRESETS[raw] } } : problem('strategy', notAPreset(raw));
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return problem(
      'strategy',
      `must be one of ${PRESET_NAMES.join(', ')}, or a mapping with kind or preset, not ${shown(raw)}`,
    );
  }
  const { preset, kind, ...options }: Record<string, unknown> = { ...raw };
  if (preset !== undefined && (typeof preset !== 'string' || !isPreset(preset)))
    return problem('strategy.preset', notAPreset(preset));
  const base: Record<string, unknown> = preset === undefined ? {} : { ...PRESETS[preset] };
  if (preset === undefined && kind === undefined) {
    return problem('strategy.kind', `is missing: it must be ${KINDS_TOLD} (or give a preset)`);
  }
  if (kind !== undefined && !KINDS.some((known) => known === kind)) {
    const hint = typeof kind === 'string' ? didYouMean(kind, KINDS) : '';
    return problem('strategy.kind', `must be ${KINDS_TOLD}, not ${shown(kind)}${hint}`);
  }
  if (preset !== undefined && kind !== undefined && base.kind !== kind) {
    return problem('strategy.kind', `must be ${String(base.kind)}, as the preset ${preset} says; give one of the two`);
  }
  return { fields: { ...base, ...(kind === undefined ? {} : { kind }), ...options } };
}

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

function notAPreset(value: unknown): string {
  const hint = typeof value === 'string' ? didYouMean(value, PRESET_NAMES) : '';
  return `must be one of ${PRESET_NAMES.join(', ')}, not ${shown(value)}${hint}`;
}

function problem(path: string, message: string): { problems: SpecProblem[] } {
  return { problems: [{ path, message }] };
}
