/** A setting of the gateway's user. */
export interface ProfileSetting {
  readonly name: string;
  readonly value: string | number;
  /** The most that a statement may set it to. Without it, any value; absent `changeable`: none. */
  readonly max?: number;
  readonly changeable: boolean;
}

export interface ProfileLimits {
  /** Seconds. */
  readonly executionSeconds: number;
  /** Bytes a statement may use on each server. */
  readonly memoryBytes: number;
}

/** Readonly, with the settings that the gateway sends with each statement, and those alone. */
export function profileSettings({ executionSeconds, memoryBytes }: ProfileLimits): readonly ProfileSetting[] {
  const fixed = (name: string, value: string | number): ProfileSetting => ({ name, value, changeable: false });
  const free = (name: string, value: string | number, max?: number): ProfileSetting => ({
    name,
    value,
    changeable: true,
    ...(max === undefined ? {} : { max }),
  });
  return [
    fixed('readonly', 1),
    fixed('allow_ddl', 0),
    fixed('allow_introspection_functions', 0),
    fixed('use_query_cache', 0),
    free('max_execution_time', executionSeconds, executionSeconds),
    free('timeout_before_checking_execution_speed', 0),
    free('timeout_overflow_mode', 'throw'),
    free('max_memory_usage', memoryBytes, memoryBytes),
    free('max_result_rows', 0),
    free('max_result_bytes', 0),
    free('result_overflow_mode', 'throw'),
    free('max_block_size', 65_409),
    free('session_timezone', 'UTC'),
    free('enable_http_compression', 0),
    free('log_comment', ''),
    free('date_time_output_format', 'iso'),
    free('output_format_json_quote_64bit_integers', 1),
    free('output_format_json_quote_64bit_floats', 0),
    free('output_format_json_quote_decimals', 1),
    free('output_format_json_quote_denormals', 1),
    free('output_format_json_named_tuples_as_objects', 1),
    free('output_format_json_validate_utf8', 1),
    free('output_format_json_escape_forward_slashes', 0),
    free('cancel_http_readonly_queries_on_client_close', 1),
    free('http_write_exception_in_output_format', 0),
  ];
}
