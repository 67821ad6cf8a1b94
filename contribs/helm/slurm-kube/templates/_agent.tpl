{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/* slurmkubed.yaml: agent.config with what the chart knows. The sockets are where the chart mounts
     the host's directory. */}}
{{- define "slurm-kube.config" -}}
{{- $config := deepCopy .Values.agent.config -}}
{{- range $key := list "scheduler_name" "scheduler_aliases" "kubeconfig" -}}
{{- if hasKey $config $key -}}
{{- fail (printf "agent.config.%s: the chart sets it; remove the key" $key) -}}
{{- end -}}
{{- end -}}
{{- if not (dig "identity" "rules" list $config) -}}
{{- fail "agent.config.identity.rules is empty: without a rule no namespace may submit pods" -}}
{{- end -}}
{{- $nodes := dict "nodes" (dict "selector" .Values.label "report_drains" .Values.reportDrains) -}}
{{- $config = mustMergeOverwrite $config $nodes -}}
{{- $config = set $config "scheduler_aliases" .Values.schedulerAliases -}}
{{- toYaml (set $config "scheduler_name" .Values.schedulerName) -}}
{{- end -}}

{{- define "slurm-kube.image" -}}
{{- $image := .Values.agent.image -}}
{{- $repository := required "agent.image.repository is required: make it with contribs/build-image" $image.repository -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "slurm-kube.agentLabels" -}}
app.kubernetes.io/name: slurm-kube
app.kubernetes.io/part-of: slurm-kube
app.kubernetes.io/component: agent
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}
