/** What a namespace needs before sweeps run in it. */
import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { InfrastructureError } from './infrastructure-error.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

/** 30 days: a dev server keeps closed runs for one, after which Temporal UI shows nothing of yesterday's sweep. */
export const RETENTION_HOURS = 720;

export async function namespaceRetentionHours(connection: Connection, namespace: string): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return tsToMs(config?.workflowExecutionRetentionTtl) / 3_600_000;
}

/** Raises the retention to `RETENTION_HOURS`; never lowers it. */
export async function raiseRetention(connection: Connection, namespace: string): Promise<void> {
  if ((await namespaceRetentionHours(connection, namespace)) >= RETENTION_HOURS) return;
  const workflowExecutionRetentionTtl = msToTs(`${RETENTION_HOURS}h`);
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
}

/** Our search attributes that this namespace lacks; with any of them missing, no workflow of ours can start. */
export async function missingSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.map(({ name }) => name).filter((name) => !Object.hasOwn(customAttributes ?? {}, name));
}

/** Registers them; clusters that keep this to their administrators refuse. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = new Set<string>(await missingSearchAttributes(connection, namespace));
  if (missing.size === 0) return;
  const searchAttributes = Object.fromEntries(
    SEARCH_ATTRIBUTES.filter(({ name }) => missing.has(name)).map(({ name, type }) => [
      name,
      encodeSearchAttributeIndexedValueType(type) ?? 0,
    ]),
  );
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    throw new InfrastructureError(
      `The namespace ${namespace} lacks the search attributes ${[...missing].join(', ')}, and they cannot be registered from here.`,
      `Ask its administrator for: ${[...missing].map((name) => `temporal operator search-attribute create -n ${namespace} --name ${name} --type ${name === 'Tokens' ? 'Int' : 'Keyword'}`).join('; ')}.`,
      error,
    );
  }
}
